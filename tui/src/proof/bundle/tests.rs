//! Tests of proof bundles.
