import { done, page, refused, type Answer } from './answers.js';
import * as accounts from './accounts.js';
import { listBanks, resolveAccount } from './banks.js';
import * as charges from './charges.js';
import type { Context } from './context.js';
import { createCustomer, getCustomer, identify } from './customers.js';
import type { Desk } from './desk.js';
import * as disputes from './disputes.js';
import type { Request } from './http.js';
import * as mandates from './mandates.js';
import * as refunds from './refunds.js';
import * as transfers from './transfers.js';

/** A route of Paystack's API: the call's name in plans, and its handler. */
type Route = { method: string; path: RegExp; call: string; handle: (request: Request) => Answer };

/** The part of Paystack's API that the fake has. */
export function routesOf(ctx: Context, desk: Pick<Desk, 'requery'>): Route[] {
  const route = (
    method: string,
    path: string,
    call: string,
    handle: (ctx: Context, request: Request) => Answer,
  ): Route => ({
    method,
    path: new RegExp(`^${path.replace('{}', '([^/]+)')}$`),
    call,
    handle: (request) => handle(ctx, request),
  });
  return [
    route('GET', '/bank', 'banks', (_ctx, request) => listBanks(request)),
    route('GET', '/bank/resolve', 'resolve', (_ctx, request) => resolveAccount(request)),
    route('GET', '/balance', 'balance', balance),
    route('GET', '/balance/ledger', 'ledger', balanceLedger),
    route('POST', '/transferrecipient', 'prepare', transfers.createRecipient),
    route('POST', '/transfer', 'submit', transfers.submitTransfer),
    route('GET', '/transfer', 'list', transfers.listTransfers),
    route('GET', '/transfer/verify/{}', 'verify_transfer', transfers.verifyTransfer),
    route('GET', '/transfer/{}', 'get_transfer', transfers.getTransfer),
    route('POST', '/transaction/initialize', 'initialize', charges.initialize),
    route('POST', '/transaction/charge_authorization', 'charge', charges.chargeAuthorization),
    route('GET', '/transaction', 'transactions', charges.listTransactions),
    route('GET', '/transaction/verify/{}', 'verify_transaction', charges.verifyTransaction),
    route('GET', '/transaction/{}', 'get_transaction', charges.getTransaction),
    route('POST', '/customer', 'create_customer', createCustomer),
    route('GET', '/customer/{}', 'get_customer', getCustomer),
    route('POST', '/customer/{}/identification', 'identify', identify),
    route('POST', '/dedicated_account', 'assign', accounts.createAccount),
    route('GET', '/dedicated_account', 'accounts', accounts.listAccounts),
    route('GET', '/dedicated_account/available_providers', 'account_banks', () =>
      accounts.listAccountBanks(),
    ),
    route('GET', '/dedicated_account/requery', 'requery', (_ctx, request) =>
      desk.requery(request)
        ? { status: 200, body: { status: true, message: 'Requery in progress' } }
        : refused(404, 'Dedicated account not found'),
    ),
    route('GET', '/dedicated_account/{}', 'get_account', accounts.getAccount),
    route('DELETE', '/dedicated_account/{}', 'close_account', accounts.closeAccount),
    route('POST', '/customer/authorization/deactivate', 'revoke', charges.deactivate),
    route('POST', '/customer/authorization/initialize', 'set_up', mandates.initializeMandate),
    route('GET', '/customer/authorization/verify/{}', 'verify_setup', mandates.verifyMandate),
    route('POST', '/refund', 'refund', refunds.createRefund),
    route('GET', '/refund', 'refunds', refunds.listRefunds),
    route('GET', '/refund/{}', 'get_refund', refunds.getRefund),
    route('POST', '/refund/retry_with_customer_details/{}', 'resume_refund', refunds.retryRefund),
    route('GET', '/dispute', 'disputes', disputes.listDisputes),
    route('GET', '/dispute/{}', 'get_dispute', disputes.getDispute),
    route('GET', '/integration/payment_session_timeout', 'session_timeout', () =>
      done('Payment session timeout retrieved', { payment_session_timeout: 0 }),
    ),
  ];
}

const balance = ({ store }: Context): Answer =>
  done('Balances retrieved', [
    { currency: 'NGN', balance: store.balance() },
    { currency: 'USD', balance: 0 },
  ]);

/** GET /balance/ledger, the newest entry first. */
const balanceLedger = ({ store, domain }: Context, { query }: Request): Answer => {
  const { from, to, perPage = '50', page: number = '1' } = query;
  const rows = store
    .ledger()
    .filter(({ createdAt }) => transfers.within(createdAt, from, to))
    .toReversed();
  return page('Balance ledger retrieved', rows, {
    page: Number(number),
    size: Number(perPage),
    textual: false,
    body: ({ id, difference, balance: after, model, row, createdAt }) => ({
      integration: 428_626,
      domain,
      balance: after,
      currency: 'NGN',
      difference,
      reason: 'Invented reason',
      model_responsible: model,
      model_row: row,
      id,
      createdAt,
      updatedAt: createdAt,
    }),
  });
};

/** The refusal of a path that is not there, which has no envelope. */
export const noSuchPath: Answer = { status: 404, body: { error: 'Cannot find this path' } };

/** The refusal of a key. */
export const wrongKey: Answer = refused(401, 'Invalid key', 'invalid_Key');
