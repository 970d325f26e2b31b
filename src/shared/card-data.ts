/** Names of fields for the data of a card that must never be stored, in lower case and without separators. */
const CARD_FIELDS = new Set(
  [
    'pan cardpan primaryaccountnumber cardnumber cardnum cardno ccnumber ccnum creditcardnumber debitcardnumber',
    'cvv cvv2 cvc cvc2 cv2 csc cvn cvvcode cvccode cardcvv cardcvc securitycode cardsecuritycode cardverificationvalue',
    'cardverificationcode pin cardpin pinnumber pinblock',
    'track track1 track2 track3 track1data track2data track3data trackdata',
  ].flatMap((line) => line.split(' ')),
);

/** True if a field of this name would hold a card number, a security code, a PIN or a track (PCI DSS). */
export const isCardField = (name: string): boolean =>
  CARD_FIELDS.has(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));

/** True if a value of JSON is or contains a card number. */
export const isCardNumber = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && holdsCardNumber(textOf(value));

/**
 * The text in which a card number is looked for. Of a number, only the integer part counts: the digits of a fraction
 * are no card number. From 1e21 on, JavaScript writes a number with an exponent and thus with a fraction again; its
 * integer part has more digits than any card number.
 */
function textOf(value: string | number): string {
  if (typeof value === 'string') return value;
  return Math.abs(value) < 1e21 ? String(Math.trunc(value)) : '';
}

/** The digits of the shortest card number. */
const MIN_DIGITS = 13;

/** Ids and digests in hexadecimal are skipped: by chance, one in some hundreds contains digits that pass the check. */
const HEXADECIMAL =
  /(?<![0-9A-Za-z])(?=[0-9]*[a-f])(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?![0-9A-Za-z])/gi;
/** Characters without a width of their own: between digits, nobody sees them. */
const WITHOUT_WIDTH = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** A card number without separators, anywhere in a text. */
const BARE =
  /(?<![0-9])(?:[3-6][0-9]{12,18}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12})(?![0-9])/g;
/**
 * A card number in groups, as a word of its own: 4-4-4-4 and, with fewer or more digits at its end, 13 to 19 of them; 4-6-5
 * (American Express) and 4-6-4 (Diners Club). A UUID has groups of digits too, and is not matched. It is a lookahead, because a
 * number may begin in each group.
 */
const GROUPED =
  /(?<![0-9A-Za-z])(?=((?:[2-6][0-9]{3}([ ._/‐–-])[0-9]{4}\2[0-9]{4}\2[0-9]{1,4}(?:\2[0-9]{1,3})?|3[0-9]{3}([ ._/‐–-])[0-9]{6}\3[0-9]{4,5})(?![0-9A-Za-z])))/g;

/**
 * Detects a card number, grouped or not: 13 to 19 digits that begin with 3 to 6, or 16 digits that begin with 2221 to 2720
 * (Mastercard), and that pass the Luhn check. Digits and spaces of other scripts are normalised first, and characters without a
 * width do not count.
 */
export function holdsCardNumber(text: string): boolean {
  if (text.length < MIN_DIGITS) return false;
  const plain = text.normalize('NFKC').replaceAll(WITHOUT_WIDTH, '').replaceAll(HEXADECIMAL, ' ');
  const grouped = [...plain.matchAll(GROUPED)].flatMap(([, run = '']) => runsIn(run));
  return [plain, ...grouped].some((run) => (run.match(BARE) ?? []).some(passesLuhn));
}

/** The digits of a run in groups. Its short last group may be a security code or a month after the number. */
const runsIn = (run: string): string[] =>
  [run, run.replace(/[^0-9][0-9]{1,3}$/, '')].map((each) => each.replaceAll(/[^0-9]/g, ''));

function passesLuhn(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/**
 * An id that another system gives to something, such as a UUID. Null if it has the form and the check digit of a card number,
 * or other characters than those of an id. Digits within a longer id are not checked: by chance, one id in some hundreds has
 * digits that pass the check, and its record would be lost with it.
 */
export const opaqueId = (id: string | null): string | null =>
  id !== null && /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(id) && !isDigitsOfCard(id) ? id : null;

/** 13 to 19 digits with the check digit, whatever they begin with. */
function isDigitsOfCard(id: string): boolean {
  const digits = id.replaceAll(/[-_]/g, '');
  return /^[0-9]{13,19}$/.test(digits) && passesLuhn(digits);
}
