import { newId } from '../../shared/ids.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { throwIfKeyReused, successResponse, type Claim } from '../../core/commit/accept.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import { amountWithin } from '../../platform/http/validate.js';
import { freshSubmission, timelineEntry } from '../../core/instructions/instruction.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { BankParts } from '../banks/index.js';
import {
  billerUnavailable,
  checkItemAmount,
  itemAmong,
  unknownCustomer,
  type BillCatalogue,
  type CustomerEnquiry,
} from '../billers/index.js';
import type { BillPayment } from './record.js';
import { acceptBillPayment } from './mutations.js';
import { presentBillPayment } from './presenter.js';
import type { CreateBillPaymentBody } from './schema.js';

/** An item costs what it costs: the least amount is the item's, not the tenant's least transfer. */
const MIN_MINOR = 1n;

/** Accepts or refuses a bill payment, and returns the response. A repeat of a key gets the saved response. */
export type CreateBillPayment = (
  tenant: Tenant,
  body: CreateBillPaymentBody,
  claim: Claim | null,
  /** Excludes the time of the biller's answers from the request's deadline. */
  withoutDeadline?: WithoutDeadline,
) => Promise<IdempotentResponse>;

/**
 * Creates the function that accepts bill payments. It asks the biller for the customer, commits record, hold, limit, key and
 * response in one transaction, and starts the workflow without waiting for the start. A biller that does not answer about
 * the customer stops nothing: it checks the customer again when it is paid. A refusal that tells whether the customer exists counts
 * against the limit of enquiries, and beyond the limit the biller is not asked.
 */
export function createBillPaymentCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  starter: Pick<WorkflowStarter<BillPayment>, 'startSoon'>;
  catalogue: Pick<BillCatalogue, 'itemsOf'>;
  enquire: CustomerEnquiry;
  enquiryLimit: BankParts['enquiryLimit'];
  provider: () => string;
}): CreateBillPayment {
  const { groupCommit, starter, catalogue, enquire } = deps;

  return async (tenant, body, claim, withoutDeadline = (wait) => wait) => {
    const { biller_id: billerId, item_id: itemId, customer_reference: customerReference } = body;
    const amountMinor = amountWithin(tenant, body, MIN_MINOR);
    const items = await withoutDeadline(catalogue.itemsOf(billerId));
    if (!items) throw billerUnavailable();
    const item = itemAmong(items, itemId);
    checkItemAmount(item, amountMinor);
    const limit = deps.enquiryLimit(tenant);
    const customer = limit.isUsedUp()
      ? NOT_ASKED
      : await withoutDeadline(enquire({ billerId, itemId, customerReference }));
    if (customer.kind === 'not_found' && (await limit.count()).allowed) {
      return refuseRequest(groupCommit, { tenantId: tenant.id, claim, error: unknownCustomer() });
    }
    const payment = newBillPayment({
      tenant,
      body,
      customerName: customer.kind === 'found' ? customer.name : null,
      givesToken: item.givesToken,
      provider: deps.provider(),
      now: new Date(),
    });
    const outcome = throwIfKeyReused(
      await groupCommit.commit(acceptBillPayment, {
        tenantId: tenant.id,
        payment,
        dailyLimitMinor: tenant.limits.dailyMinor,
        claim,
        answer: successResponse(presentBillPayment(payment)),
      }),
    );
    if (outcome.resource === payment._id) starter.startSoon(payment);
    if (outcome.resource === null && customer.kind === 'found') await limit.count();
    return outcome;
  };
}

const NOT_ASKED = { kind: 'no_answer' } as const;

/** Builds the record of a bill payment with everything that does not depend on the commit. */
export function newBillPayment({
  tenant,
  body,
  customerName,
  givesToken,
  provider,
  now,
}: {
  tenant: Pick<Tenant, 'id' | 'billFeeMinor'>;
  body: CreateBillPaymentBody;
  customerName: string | null;
  givesToken: boolean;
  provider: string;
  now: Date;
}): BillPayment {
  const id = newId('billPayment');
  const amountMinor = BigInt(body.amount_minor);
  const detail = 'the total is held in the wallet';
  return {
    _id: id,
    tenant_id: tenant.id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    amount_minor: amountMinor,
    fee_minor: tenant.billFeeMinor,
    total_minor: amountMinor + tenant.billFeeMinor,
    currency: body.currency,
    biller_id: body.biller_id,
    item_id: body.item_id,
    customer_reference: body.customer_reference,
    customer_name: customerName,
    gives_token: givesToken,
    receipt: null,
    reference: body.reference ?? id,
    metadata: body.metadata ?? null,
    provider,
    failure: null,
    in_suspense: false,
    limit_day: lagosDay(now),
    ...freshSubmission(now),
    timeline: [timelineEntry(now, 'accepted', 'api', { detail })],
    created_at: now,
    updated_at: now,
    settled_amount_minor: null,
    completed_at: null,
    reversed_at: null,
  };
}
