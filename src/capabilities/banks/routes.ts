import { ApiError } from '../../shared/errors.js';
import { sendData, sendPage } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { withoutDeadline } from '../../platform/http/time-limit.js';
import { listBanks, resolveAccount } from '../transfers/api.js';
import type { BankList } from './bank-list.js';
import type { NameEnquiry } from './name-enquiry.js';
import { presentBank, presentRecipient } from '../transfers/presenter.js';
import { recipientOf } from '../transfers/schema.js';

const RETRY_AFTER_SECONDS = 5;

/** What can be asked before a transfer is made: whose account it is, and which banks there are. */
export const transferDirectoryRoutes = ({
  banks: { nameEnquiry, list: bankList },
}: {
  banks: { nameEnquiry: NameEnquiry; list: BankList };
}): Route[] => [
  route(resolveAccount, async (ctx, { body }) => {
    const { account, bankCode } = recipientOf(body);
    const answer = await withoutDeadline(ctx, nameEnquiry({ account, bankCode }));
    if (answer.kind === 'not_found') throw new ApiError('invalid_account');
    if (answer.kind === 'no_answer') throw silentBank();
    const { name, bankName: bank } = answer;
    sendData(ctx, 200, presentRecipient({ account, bank_code: bankCode, name, bank }));
  }),

  route(listBanks, async (ctx, { query }) => {
    const banks = await withoutDeadline(ctx, bankList());
    if (!banks) throw silentBank();
    sendPage(ctx, banks.map(presentBank), query);
  }),
];

function silentBank(): ApiError {
  const message = 'The bank does not answer now. Try again.';
  return new ApiError('service_unavailable', { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
