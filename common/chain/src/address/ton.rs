//! TON addresses: the hash of the wallet contract's initial state (TEP-2 and the TON documentation of cells).
//!
//! The three wallet contracts are known by the hashes of their code. Only their cells are supported.

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use super::checksum::crc16_xmodem;

/// Version of a wallet contract.
#[derive(Clone, Copy)]
pub(super) enum Contract {
    V3r2,
    V4r2,
    V5r1,
}

/// Tag byte of a non-bounceable address, as wallets show it.
const NON_BOUNCEABLE: u8 = 0x51;
/// Id of the chain that holds accounts (basechain).
const BASE_CHAIN: u8 = 0;
/// Initial subwallet number of the older contracts.
const SUBWALLET: u32 = 698_983_191;
/// Initial wallet id of the newest contract: mainnet, basechain, version 0, subwallet 0.
const WALLET_ID: u32 = 0x7fff_ff11;

impl Contract {
    /// Returns the hash and the depth of the code.
    fn code(self) -> ([u8; 32], u16) {
        const V3R2: [u8; 32] = [
            0x84, 0xda, 0xfa, 0x44, 0x9f, 0x98, 0xa6, 0x98, 0x77, 0x89, 0xba, 0x23, 0x23, 0x58, 0x07, 0x2b,
            0xc0, 0xf7, 0x6d, 0xc4, 0x52, 0x40, 0x02, 0xa5, 0xd0, 0x91, 0x8b, 0x9a, 0x75, 0xd2, 0xd5, 0x99,
        ];
        const V4R2: [u8; 32] = [
            0xfe, 0xb5, 0xff, 0x68, 0x20, 0xe2, 0xff, 0x0d, 0x94, 0x83, 0xe7, 0xe0, 0xd6, 0x2c, 0x81, 0x7d,
            0x84, 0x67, 0x89, 0xfb, 0x4a, 0xe5, 0x80, 0xc8, 0x78, 0x86, 0x6d, 0x95, 0x9d, 0xab, 0xd5, 0xc0,
        ];
        const V5R1: [u8; 32] = [
            0x20, 0x83, 0x4b, 0x7b, 0x72, 0xb1, 0x12, 0x14, 0x7e, 0x1b, 0x2f, 0xb4, 0x57, 0xb8, 0x4e, 0x74,
            0xd1, 0xa3, 0x0f, 0x04, 0xf7, 0x37, 0xd4, 0xf6, 0x2a, 0x66, 0x8e, 0x95, 0x52, 0xd2, 0xb7, 0x2f,
        ];
        match self {
            Self::V3r2 => (V3R2, 0),
            Self::V4r2 => (V4R2, 7),
            Self::V5r1 => (V5R1, 6),
        }
    }

    /// Returns the initial data of the contract.
    fn data(self, key: &[u8; 32]) -> Bits {
        let mut bits = Bits::default();
        match self {
            Self::V3r2 | Self::V4r2 => {
                bits.push(&0_u32.to_be_bytes());
                bits.push(&SUBWALLET.to_be_bytes());
                bits.push(key);
                if matches!(self, Self::V4r2) {
                    bits.push_bit(false);
                }
            }
            Self::V5r1 => {
                bits.push_bit(true);
                bits.push(&0_u32.to_be_bytes());
                bits.push(&WALLET_ID.to_be_bytes());
                bits.push(key);
                bits.push_bit(false);
            }
        }
        bits
    }
}

/// Returns the wallet address of a key.
pub(super) fn address(contract: Contract, key: &[u8; 32]) -> String {
    let (code, depth) = contract.code();
    let data = contract.data(key).cell();
    // The initial state has five bits. Two of them state that code and data are present.
    let mut state = Sha256::new();
    state.update([0x02, 0x01, 0x34]);
    state.update(depth.to_be_bytes());
    state.update(0_u16.to_be_bytes());
    state.update(code);
    state.update(data);
    let mut bytes = vec![NON_BOUNCEABLE, BASE_CHAIN];
    bytes.extend(state.finalize());
    let checksum = crc16_xmodem(&bytes);
    bytes.extend(checksum.to_be_bytes());
    Base64UrlUnpadded::encode_string(&bytes)
}

/// A sequence of bits.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn push(&mut self, bytes: &[u8]) {
        let Self(bits) = self;
        bits.extend(bytes.iter().flat_map(|byte| (0..8).map(move |index| byte & (0x80 >> index) != 0)));
    }

    fn push_bit(&mut self, bit: bool) {
        let Self(bits) = self;
        bits.push(bit);
    }

    /// Returns the hash of an ordinary cell with these bits and without references.
    fn cell(self) -> [u8; 32] {
        let Self(mut bits) = self;
        let full_bytes = bits.len() / 8;
        let descriptor = full_bytes.saturating_add(bits.len().div_ceil(8));
        if bits.len() % 8 != 0 {
            bits.push(true);
        }
        let byte = |bits: &[bool]| {
            bits.iter()
                .zip(0_u8..8)
                .fold(0_u8, |byte, (bit, index)| if *bit { byte | (0x80 >> index) } else { byte })
        };
        let mut hash = Sha256::new();
        hash.update([0, u8::try_from(descriptor).unwrap_or(u8::MAX)]);
        hash.update(bits.chunks(8).map(byte).collect::<Vec<u8>>());
        hash.finalize().into()
    }
}
