import { shownChanger, shownState, type Card } from './issuer/card-state.js';
import { reportedMinor } from './issuer/funding-state.js';
import { presentAccount, presentDeposit } from './accounts/wire.js';
import { presentCheck } from './identity/wire.js';
import { isSetup } from './acquirer/charge-state.js';
import { presentCharge, presentDispute, presentRefund, presentSetup } from './acquirer/wire.js';
import { disputeReportData, presentReports, reportData } from './issuer/wire.js';
import { presentBill } from './billers/wire.js';
import { isStale, type CallbackRecord, type Subject } from './shared/callback-record.js';
import type { State } from './state.js';

/** The body of a callback. Those of virtual accounts and deposits alone contain account numbers; no card numbers exist. */
export function callbackBody(state: State, callback: CallbackRecord) {
  return {
    id: callback.id,
    event: callback.event,
    occurred_at: new Date(callback.occurred_at).toISOString(),
    ...elsewhere(state, callback),
    data: dataOf(state, callback, isStale(callback)),
  };
}

function dataOf(state: State, about: Subject, stale: boolean) {
  if ('transfer' in about) return transferData(state, about.transfer, stale);
  if ('card' in about) return cardData(state.issuer.cards.get(about.card));
  if ('funding' in about) {
    const funding = state.issuer.fundings.get(about.funding);
    const { reference, client_reference, card, amount_minor, currency } = funding.order;
    const amount = stale ? amount_minor : reportedMinor(funding);
    return {
      reference,
      client_reference,
      card,
      amount_minor: amount,
      currency,
      code: funding.code,
    };
  }
  if ('account' in about) return presentAccount(state.virtualAccounts.accounts.get(about.account));
  if ('deposit' in about) {
    return presentDeposit(state.virtualAccounts.deposits.get(about.deposit), true);
  }
  if ('charge' in about) {
    const charge = state.acquirer.charges.get(about.charge);
    if (isSetup(charge)) return presentSetup(charge);
    return presentCharge(charge, { isWithheld: stale });
  }
  if ('dispute' in about) {
    const dispute = presentDispute(state.acquirer.disputes.get(about.dispute));
    return { reference: dispute.charge, ...dispute };
  }
  if ('bill' in about) return presentBill(state.bills.get(about.bill), stale);
  if ('refund' in about) {
    const refund = presentRefund(state.acquirer.refunds.get(about.refund), stale);
    return { reference: refund.charge, ...refund };
  }
  if ('check' in about) return presentCheck(state.identity.get(about.check));
  if ('cardDispute' in about) {
    const dispute = state.issuer.disputes.get(about.cardDispute);
    const report = dispute.reports[about.message];
    if (!report) throw new Error('a dispute has no such report');
    return disputeReportData(dispute, report);
  }
  const authorization = state.issuer.authorizations.get(about.authorization);
  const message = authorization.messages[about.message];
  if (!message) throw new Error('an authorization has no such message');
  if (about.from === undefined) return reportData(authorization, message);
  const { reports } = presentReports(authorization, about.from);
  return { ...reportData(authorization, message), reports };
}

/** An event of the other environment says so. */
function elsewhere({ transfers, acquirer, virtualAccounts }: State, about: Subject) {
  const isTransfer =
    'transfer' in about && transfers.get(about.transfer).behaviour === 'event_elsewhere';
  const isCharge =
    'charge' in about && acquirer.charges.get(about.charge).behaviour === 'event_elsewhere';
  const isDeposit =
    'deposit' in about &&
    virtualAccounts.deposits.get(about.deposit).behaviour === 'told_by_other_environment';
  return isTransfer || isCharge || isDeposit ? { environment: 'elsewhere' } : {};
}

function transferData(state: State, number: number, stale: boolean) {
  const { order, amountMinor, sessionId, code, behaviour } = state.transfers.get(number);
  if (behaviour === 'unreadable_event') return { ref: order.reference };
  return {
    reference: order.reference,
    client_reference: order.client_reference,
    amount_minor: stale ? order.amount_minor : amountMinor,
    currency: order.currency,
    session_id: stale ? null : sessionId,
    ...(!stale && code !== null && { code }),
  };
}

function cardData(about: Card) {
  const { order, face } = about;
  const { reference, client_reference } = order;
  const { id: card = null, ...rest } = face ?? {};
  const shown = { state: shownState(about), changed_by: shownChanger(about) };
  return { reference, client_reference, card, ...rest, ...shown };
}
