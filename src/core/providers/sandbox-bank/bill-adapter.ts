import type { z } from 'zod';
import { toWireAmount } from '../../../shared/money.js';
import type { BillCustomer, BillProvider, BillRequest } from '../bill-provider.js';
import type { Reply } from '../http.js';
import type { UnknownReason } from '../port.js';
import {
  bankHttp,
  errorCode,
  readLookup,
  readSubmitReply,
  reasonOf,
  resendSafetyOf,
  unreadable,
  withoutFence,
  type SandboxBankOptions,
} from './answers.js';
import { BILL_SAFE_FIELDS, readBillMessage, readStoredBillMessage } from './bill-events.js';
import {
  billAnswer,
  billersAnswer,
  billState,
  categoriesAnswer,
  customerAnswer,
  itemsAnswer,
} from './bill-wire.js';
import { readSigned } from './signed.js';

/** Creates the sandbox bank's adapter of the port of bill providers. */
export function createSandboxBankBills(options: SandboxBankOptions): BillProvider {
  const { callsPerSecond } = options;
  const http = bankHttp(options);
  const get = (path: string, signal: AbortSignal) => http({ method: 'GET', path }, signal);
  return {
    name: 'sandbox-bank',
    bills: { resendSafety: resendSafetyOf(withoutFence(options)), callsPerSecond },
    async listCategories(signal) {
      const answer = read(await get('/v1/bill-categories', signal), categoriesAnswer);
      return answer.kind === 'read' ? { kind: 'categories', ...answer.data } : answer;
    },
    async listBillers(signal) {
      const answer = read(await get('/v1/billers', signal), billersAnswer);
      if (answer.kind === 'no_answer') return answer;
      const billers = answer.data.billers.map(({ customer_reference_name, ...biller }) => ({
        ...biller,
        customerReferenceName: customer_reference_name,
      }));
      return { kind: 'billers', billers };
    },
    async listItems(billerId, signal) {
      const reply = await get(`/v1/billers/${encodeURIComponent(billerId)}/items`, signal);
      return readItems(reply);
    },
    async validate(customer, signal) {
      const body = customerBody(customer);
      const reply = await http({ method: 'POST', path: '/v1/bill-customers', body }, signal);
      if (isAbsent(reply, 'no_such_customer')) return { kind: 'not_found' };
      const answer = read(reply, customerAnswer);
      if (answer.kind === 'no_answer') return answer;
      return { kind: 'found', name: answer.data.customer_name };
    },
    async submit(request, signal) {
      const body = billBody(request);
      const reply = await http({ method: 'POST', path: '/v1/bills', body }, signal);
      return readSubmitReply(reply, (answer) => readBill(answer, request.reference));
    },
    async verify({ reference }, signal) {
      const reply = await get(`/v1/bills/${encodeURIComponent(reference)}`, signal);
      return readLookup(reply, 'bill_not_found', (answer) => readBill(answer, reference));
    },
    readMessage: readSigned(options, readBillMessage),
    readStored: readStoredBillMessage,
    safeFields: BILL_SAFE_FIELDS,
  };
}

const customerBody = ({ billerId, itemId, customerReference }: BillCustomer) => ({
  biller: billerId,
  item: itemId,
  customer_reference: customerReference,
});

const billBody = (request: BillRequest) => ({
  reference: request.reference,
  client_reference: request.clientReference,
  ...customerBody(request),
  amount_minor: toWireAmount(request.amountMinor),
  currency: request.currency,
  requested_at: request.requestedAt.toISOString(),
});

/** The state of this very bill, or unknown: an answer about another one says nothing. */
function readBill(body: unknown, reference: string) {
  const parsed = billAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== reference) return unreadable();
  return billState(parsed.data);
}

const isAbsent = (reply: Reply, absent: string) =>
  reply.kind === 'answer' && reply.status === 404 && errorCode(reply.body) === absent;

/** Reads the reply to a question that changes nothing. */
function read<Schema extends z.ZodType>(
  reply: Reply,
  schema: Schema,
): { kind: 'read'; data: z.output<Schema> } | { kind: 'no_answer'; reason: UnknownReason } {
  if (reply.kind === 'none') return { kind: 'no_answer', reason: reply.reason };
  const parsed = reply.status === 200 ? schema.safeParse(reply.body) : null;
  return parsed?.success
    ? { kind: 'read', data: parsed.data }
    : { kind: 'no_answer', reason: reasonOf(reply.status) };
}

function readItems(reply: Reply) {
  if (isAbsent(reply, 'no_such_biller')) return { kind: 'items' as const, items: [] };
  const answer = read(reply, itemsAnswer);
  if (answer.kind === 'no_answer') return answer;
  const items = answer.data.items.map((item) => ({
    id: item.id,
    name: item.name,
    fixedMinor: item.amount_minor,
    minMinor: item.min_amount_minor,
    maxMinor: item.max_amount_minor,
    givesToken: item.gives_token,
  }));
  return { kind: 'items' as const, items };
}
