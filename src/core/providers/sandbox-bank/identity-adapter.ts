import type { CheckRequest, IdentityProvider } from '../identity-provider.js';
import { CHECK_TYPES } from '../identity-provider.js';
import {
  bankHttp,
  readLookup,
  readSubmitReply,
  resendSafetyOf,
  unreadable,
  withoutFence,
  type SandboxBankOptions,
} from './answers.js';
import { IDENTITY_SAFE_FIELDS, readIdentityMessage } from './identity-events.js';
import { checkAnswer, checkState } from './identity-wire.js';
import { readSigned, readStored } from './signed.js';

/** Creates the sandbox bank's adapter of the identity port. */
export function createSandboxBankIdentity(options: SandboxBankOptions): IdentityProvider {
  const { callsPerSecond } = options;
  const http = bankHttp(options);
  const resendSafety = resendSafetyOf(withoutFence(options));
  return {
    name: 'sandbox-bank',
    identity: { resendSafety, callsPerSecond, checks: CHECK_TYPES, onePerCustomer: false },
    async startCheck(request, signal) {
      const body = checkBody(request);
      const reply = await http({ method: 'POST', path: '/v1/checks', body }, signal);
      return readSubmitReply(reply, (answer) => readCheck(answer, request.reference));
    },
    async verifyCheck({ reference }, signal) {
      const path = `/v1/checks/${encodeURIComponent(reference)}`;
      const reply = await http({ method: 'GET', path }, signal);
      return readLookup(reply, 'check_not_found', (answer) => readCheck(answer, reference));
    },
    readMessage: readSigned(options, readIdentityMessage),
    readStored: readStored(readIdentityMessage),
    safeFields: IDENTITY_SAFE_FIELDS,
  };
}

function checkBody({ reference, customer, checkType, subject, requestedAt }: CheckRequest) {
  const { firstName: first_name, lastName: last_name, dateOfBirth: date_of_birth } = subject;
  const request = {
    reference,
    client_reference: customer,
    requested_at: requestedAt.toISOString(),
  };
  const common = { ...request, check_type: checkType, first_name, last_name, date_of_birth };
  if ('number' in subject) return { ...common, number: subject.number };
  const { accountNumber: account_number, bankCode: bank_code, bvn } = subject;
  return { ...common, account_number, bank_code, bvn };
}

/** The state of this very check, or unknown: an answer about another one says nothing. */
function readCheck(body: unknown, reference: string) {
  const parsed = checkAnswer.safeParse(body);
  if (!parsed.success || parsed.data.reference !== reference) return unreadable();
  return checkState(parsed.data) ?? unreadable();
}
