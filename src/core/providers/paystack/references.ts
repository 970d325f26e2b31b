/**
 * Our references at Paystack. A transfer takes ours as it is: lower-case letters, digits, `-`, `_`. A transaction allows
 * letters, digits, `-`, `.`, `=` only, so the underscore of our ids becomes a hyphen there.
 */

const OURS = /^([a-z]{3})_([0-7][0-9a-hjkmnp-tv-z]{25})((?:-[0-9]{1,4})*)$/;
const THEIRS = /^([a-z]{3})-([0-7][0-9a-hjkmnp-tv-z]{25})((?:-[0-9]{1,4})*)$/;

/** The references of transfers: ours, unchanged. */
export const transferReferences = {
  pattern: /^[a-z0-9_-]{16,50}$/,
  maxLength: 50,
  toTheirs: (id: string): string => id,
  toOurs: (theirs: string): string | null => (OURS.test(theirs) ? theirs : null),
};

/** The references of charges: `chg_<id>-<n>` is `chg-<id>-<n>` at Paystack. */
export const chargeReferences = {
  pattern: /^[A-Za-z0-9.=-]{1,100}$/,
  maxLength: 100,
  toTheirs: (id: string): string => id.replace(OURS, '$1-$2$3'),
  /** Null for a transaction that was not started by us. */
  toOurs: (theirs: string): string | null =>
    THEIRS.test(theirs) ? theirs.replace(THEIRS, '$1_$2$3') : null,
};
