/** A text field that the database has sealed only. */
export type SealedField = {
  /** Path in the document, with full stops. It leads into each item of an array. */
  path: string;
  /** A field of the document for the blind index of the value, by which the record is looked up. */
  index?: string;
  /** Name of the field in the associated data, if it is not the path. */
  place?: string;
  /** True if its owner seals and opens the field itself: it is in sealed form in memory, too. */
  byOwner?: true;
  /** True for a keyed hash that begins with the id of its key: nothing opens it, but it needs the key until it is gone. */
  hashed?: true;
};
