import type { Document } from 'mongodb';
import type { RecordCollection, StoredRecord } from '../commit/collection.js';
import { needsWorkflow, type InstructionRecord } from '../instructions/instruction.js';

/** The e-mail address in place of an erased one, where a record must have one. Nobody can have it (RFC 2606). */
export const ERASED_EMAIL = 'erased@erased.invalid';
/** The name in place of an erased one, where a record must have one. */
export const ERASED_NAME = 'Erased';
/** The text in place of an erased one, where a record must have one. */
export const ERASED_TEXT = 'erased';

/** Records that name a customer, or belong to records that do. Declared in `defineCapability`. */
export type ErasedRecords = {
  collection: RecordCollection;
  /** The open records in the plural, for the operator: `payment tokens that are not deleted`. */
  label: string;
  /** The field with the tenant's id of the customer, or with the id of a record of an earlier collection in the list. */
  by: { field: string; of?: RecordCollection };
  /** Work that is not over: nothing is erased before. */
  isOpen: (record: StoredRecord) => boolean;
  /** The values that take the place of personal data, by their paths. */
  erased: (record: StoredRecord) => Document;
};

/** Declares the records of a collection that an erasure takes. */
export const erasedRecords = <R extends StoredRecord>(given: {
  collection: RecordCollection<R>;
  label: string;
  by: ErasedRecords['by'];
  isOpen: (record: R) => boolean;
  erased: (record: R) => Document;
}): ErasedRecords => given as unknown as ErasedRecords;

/** True for an instruction whose outcome is open, or which is watched. */
export const isInstructionOpen = (record: InstructionRecord): boolean =>
  needsWorkflow(record) || record.next_check_at !== null;
