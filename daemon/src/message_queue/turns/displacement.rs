//! Selects the delayed messages that new ones displace, so that no sender exceeds its share.

use quorate_core::model::message_event::SenderGroup;
use quorate_core::model::queued_message::{MessageId, MessageSource, MessageUsage, QueueUsage};

use super::scope::{self, Scope};
use super::{State, Tenant, Turns};

impl Turns {
    /// Takes delayed messages while those that wait exceed the share of an organization, of a group of senders or of a
    /// tenant. The caller then records this. Each message is found in the order of delayed messages, so the cost does not
    /// depend on how many wait.
    pub fn take_displaced(&mut self, share: MessageUsage, most: usize) -> Vec<MessageId> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let Some(source) = self.grown.first().copied() else { break };
            let tenant = self.tenants.get(&source.tenant);
            if let Some(id) = tenant.and_then(|tenant| tenant.excess(&source, share)) {
                self.displace(id);
                taken.push(id);
            } else {
                self.grown.remove(&source);
            }
        }
        taken
    }

    /// Ends a message whose place a newer one takes.
    fn displace(&mut self, id: MessageId) {
        self.set_ended(id);
        self.set_state(id, State::Displaced);
        let Some(message) = self.messages.get(&id).map(|entry| entry.message) else { return };
        self.each_scope(&message, |scope| scope.displace(&message));
    }

    /// Returns how many messages wait: of a tenant, of its organization, and of its group of senders.
    pub fn usage(&self, source: &MessageSource) -> [QueueUsage; 3] {
        let Some(tenant) = self.tenants.get(&source.tenant) else { return [QueueUsage::default(); 3] };
        let usage = |scope: Option<&Scope>| scope.map(|scope| *scope.usage()).unwrap_or_default();
        let organization = tenant.organizations.get(&source.organization);
        [
            tenant.usage(),
            usage(organization.map(|organization| &organization.scope)),
            usage(tenant.groups.get(&source.group)),
        ]
    }
}

impl Tenant {
    /// Returns how many messages wait.
    pub(super) fn usage(&self) -> QueueUsage {
        self.groups.values().fold(QueueUsage::default(), |sum, scope| sum.with(scope.usage()))
    }

    /// Returns a delayed message to displace, if the messages of a source exceed a share: one of its own organization or
    /// group. If only the tenant as a whole exceeds its share, one of the proxy or of sub-organizations, and one of the tenant
    /// itself only if these have none: what anybody can have sent gives way first.
    fn excess(&self, source: &MessageSource, share: MessageUsage) -> Option<MessageId> {
        let [of_tenant, of_organization, of_group] = source.shares(share);
        let organization = self.organizations.get(&source.organization);
        let group = self.groups.get(&source.group);
        organization
            .and_then(|organization| organization.scope.excess(of_organization))
            .or_else(|| group?.excess(of_group))
            .or_else(|| {
                let rank = |(group, scope): &(&Option<SenderGroup>, &Scope)| {
                    (group.is_some(), **group == source.group, scope.usage().delayed.messages)
                };
                let next = || {
                    let groups = self.groups.iter().filter(|(_, scope)| scope.next_displaced().is_some());
                    groups.max_by_key(rank)?.1.next_displaced()
                };
                scope::is_over(&self.usage(), of_tenant).then(next).flatten()
            })
    }
}
