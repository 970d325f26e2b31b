import type { z } from 'zod';
import type { Bank } from '../../core/providers/transfer-provider.js';
import type { bankResource, recipientResource } from './schema.js';

/** A bank account with the name of its holder. Name and bank are null until a name enquiry is answered. */
export type Recipient = {
  account: string;
  bank_code: string;
  name: string | null;
  bank: string | null;
};

/** Presents the holder of an account under the field names of a transfer. */
export function presentRecipient(recipient: Recipient): z.infer<typeof recipientResource> {
  return {
    recipient_account: recipient.account,
    recipient_name: recipient.name,
    recipient_bank: recipient.bank,
    recipient_bank_code: recipient.bank_code,
  };
}

/** Presents a bank with the codes that a transfer accepts. */
export function presentBank(bank: Bank): z.infer<typeof bankResource> {
  return { code: bank.code, nip_code: bank.nipCode, name: bank.name };
}
