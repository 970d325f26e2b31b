import type { AccountRecord } from './accounts/records.js';
import type { AcquirerRecord } from './acquirer/records.js';
import type { CheckRecord } from './identity/records.js';
import type { BillRecord } from './billers/records.js';
import type { CardRecord } from './issuer/records.js';
import type { CallbackRecord } from './shared/callback-record.js';
import type { SharedRecord } from './shared/journal.js';
import type { TransferRecord } from './transfers/records.js';

/** One fact of the journal. Times are milliseconds since 1970. */
export type BankRecord =
  | TransferRecord
  | CardRecord
  | AcquirerRecord
  | AccountRecord
  | CheckRecord
  | BillRecord
  | CallbackRecord
  | SharedRecord;
