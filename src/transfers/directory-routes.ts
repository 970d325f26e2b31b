import { ApiError } from '../errors.js';
import { sendData, sendPage } from '../http/respond.js';
import { route, type Route } from '../http/routes.js';
import { untimed } from '../http/time-limit.js';
import { listBanks, resolveAccount } from './api.js';
import type { BankList } from './bank-list.js';
import type { NameEnquiry } from './name-enquiry.js';
import { presentBank, presentRecipient } from './presenter.js';
import { recipientOf } from './schema.js';

const RETRY_AFTER_SECONDS = 5;

/** What can be asked before a transfer is made: whose account it is, and which banks there are. */
export const transferDirectoryRoutes = ({
  nameEnquiry,
  bankList,
}: {
  nameEnquiry: NameEnquiry;
  bankList: BankList;
}): Route[] => [
  route(resolveAccount, async (ctx, { body }) => {
    const { account, bankCode } = recipientOf(body);
    const answer = await untimed(ctx, nameEnquiry({ account, bankCode }));
    if (answer.kind === 'not_found') throw new ApiError('invalid_account');
    if (answer.kind === 'no_answer') throw silentBank();
    const { name, bankName: bank } = answer;
    sendData(ctx, 200, presentRecipient({ account, bank_code: bankCode, name, bank }));
  }),

  route(listBanks, async (ctx, { query }) => {
    const banks = await untimed(ctx, bankList());
    if (!banks) throw silentBank();
    sendPage(ctx, banks.map(presentBank), query);
  }),
];

function silentBank(): ApiError {
  const message = 'The bank does not answer now. Try again.';
  return new ApiError('service_unavailable', { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
