//! Queries for lists, one page each.

use std::fmt::Write as _;

use quorate_common::activity::Status;
use quorate_common::console::{
    AccountPage, ActivityPage, ActivityRow, HistoryPage, InboxPage, MessagePage, OrganizationPage,
    PAGE_LIMIT, ParkedPage,
};
use quorate_common::ids::{ActivityId, MessageEventId, OrganizationId, WalletAccountId, WalletId};

use super::client::Client;
use super::error::Result;
use super::escape::escaped;
use super::history::History;
use super::paging::Page;

impl Client {
    /// Queries a page of organizations: top-level organizations, or the children of `parent`.
    pub(crate) async fn organizations(
        &self,
        parent: Option<OrganizationId>,
        after: Option<OrganizationId>,
    ) -> Result<OrganizationPage> {
        if let (Some(remote), None) = (self.at_url(), parent) {
            // Users see no organization beside their own.
            let own = self.organization(remote.organization()?).await?;
            return Ok(OrganizationPage { organizations: vec![own.head], next: None });
        }
        let parent = parent.map_or_else(String::new, |id| format!("&parent={id}"));
        self.page(&format!("organizations?limit={PAGE_LIMIT}{parent}"), after).await
    }

    /// Queries a page of the sub-organizations with a user who has this verified mail address or phone number.
    pub(crate) async fn with_contact(
        &self,
        parent: OrganizationId,
        contact: &str,
        after: Option<OrganizationId>,
    ) -> Result<OrganizationPage> {
        let contact = escaped(contact);
        self.page(&format!("organizations?limit={PAGE_LIMIT}&parent={parent}&contact={contact}"), after).await
    }

    /// Queries a page of parked webhook deliveries after a cursor of an earlier page.
    pub(crate) async fn parked(&self, after: Option<&str>) -> Result<ParkedPage> {
        self.page(&format!("outbox/parked?limit={PAGE_LIMIT}"), after).await
    }

    /// Queries a page of the events of messages, newest first.
    pub(crate) async fn messages(
        &self,
        id: OrganizationId,
        after: Option<MessageEventId>,
    ) -> Result<MessagePage> {
        self.page(&format!("organizations/{id}/messages?limit={PAGE_LIMIT}"), after).await
    }

    /// Queries a page of accounts of a wallet.
    pub(crate) async fn accounts(
        &self,
        id: OrganizationId,
        wallet: WalletId,
        after: Option<WalletAccountId>,
    ) -> Result<AccountPage> {
        self.page(&format!("organizations/{id}/wallets/{wallet}/accounts?limit={PAGE_LIMIT}"), after).await
    }

    /// Queries a page of activities, newest first.
    pub(crate) async fn activities(
        &self,
        id: OrganizationId,
        statuses: &[Status],
        types: &[String],
        after: Option<ActivityId>,
        limit: usize,
    ) -> Result<ActivityPage> {
        let mut path = format!("organizations/{id}/activities?limit={}", limit.clamp(1, PAGE_LIMIT));
        let names: Vec<String> = statuses
            .iter()
            .filter_map(|status| Some(serde_json::to_value(status).ok()?.as_str()?.to_owned()))
            .collect();
        for (name, values) in [("status", &names[..]), ("type", types)] {
            if !values.is_empty() {
                let _ = write!(path, "&{name}={}", values.join(","));
            }
        }
        self.page(&path, after).await
    }

    /// Queries the newest activities, page by page, up to a number of them.
    pub(crate) async fn newest(
        &self,
        id: OrganizationId,
        statuses: &[Status],
        types: &[String],
        limit: usize,
    ) -> Result<Vec<ActivityRow>> {
        let (mut rows, mut after) = (Vec::new(), None);
        while rows.len() < limit {
            let page = self.activities(id, statuses, types, after, limit.saturating_sub(rows.len())).await?;
            rows.extend(page.activities);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(rows)
    }

    /// Queries a page of activities that wait for votes, newest first.
    pub(crate) async fn waiting(
        &self,
        id: OrganizationId,
        after: Option<ActivityId>,
    ) -> Result<ActivityPage> {
        self.activities(id, &Status::WAITING, &[], after, PAGE_LIMIT).await
    }

    /// Queries a page of the activities of an organization after a cursor of an earlier page.
    pub(crate) async fn history(
        &self,
        id: OrganizationId,
        request: &History,
        after: Option<&str>,
        limit: usize,
    ) -> Result<HistoryPage> {
        let limit = limit.clamp(1, PAGE_LIMIT);
        let parameters = request.parameters();
        self.page(&format!("organizations/{id}/history?limit={limit}{parameters}"), after).await
    }

    /// Queries a page of what waits in an organization and in its sub-organizations. Also returns the length in bytes of
    /// this page and of those before it.
    pub(crate) async fn inbox(&self, id: OrganizationId, after: Option<&str>) -> Result<(InboxPage, usize)> {
        let sent = self.versions.now();
        let path = format!("organizations/{id}/inbox?limit={PAGE_LIMIT}");
        let (page, bytes): (InboxPage, usize) = self.page_sized(&path, after).await?;
        for one in &page.organizations {
            self.versions.check(sent, &one.organization.head)?;
        }
        Ok((page, bytes))
    }

    async fn page<P: Page>(&self, list: &str, after: Option<impl ToString>) -> Result<P> {
        Ok(self.page_sized(list, after).await?.0)
    }

    /// Queries a page of a list after a cursor of an earlier page. Also returns the length in bytes of this page and of those
    /// before it.
    ///
    /// # Errors
    /// If the list has no end, see [`super::paging`].
    async fn page_sized<P: Page>(&self, list: &str, after: Option<impl ToString>) -> Result<(P, usize)> {
        let after = after.map(|cursor| cursor.to_string());
        let from = after.as_ref().map_or_else(String::new, |cursor| format!("&after={}", escaped(cursor)));
        let (page, bytes) = self.read_sized(&format!("/console/v1/{list}{from}")).await?;
        let total = self.lists.turn(list, after.as_deref(), &page, bytes)?;
        Ok((page, total))
    }
}
