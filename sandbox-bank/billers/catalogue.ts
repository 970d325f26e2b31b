/** The catalogue of invented billers. */

/** A kind of biller. */
type Category = { id: string; name: string };

/** Something that can be paid to a biller. Without `amount_minor` the customer chooses the amount. */
export type Item = {
  id: string;
  name: string;
  amount_minor: number | null;
  min_amount_minor: number;
  max_amount_minor: number;
  /** The price of one unit in kobo, if the item is a prepaid meter, whose payments get a token. */
  unit_price_minor: number | null;
};

/** A biller. */
export type Biller = {
  id: string;
  name: string;
  category: string;
  customer_reference_name: string;
  items: readonly Item[];
};

/** The categories of the catalogue. */
export const CATEGORIES: readonly Category[] = [
  { id: 'airtime', name: 'Airtime' },
  { id: 'data', name: 'Mobile data' },
  { id: 'electricity', name: 'Electricity' },
  { id: 'tv', name: 'Television' },
];

const open = (id: string, name: string, min: number, max: number, unitPrice?: number): Item => ({
  id,
  name,
  amount_minor: null,
  min_amount_minor: min,
  max_amount_minor: max,
  unit_price_minor: unitPrice ?? null,
});

const fixed = (id: string, name: string, amount: number): Item => ({
  id,
  name,
  amount_minor: amount,
  min_amount_minor: amount,
  max_amount_minor: amount,
  unit_price_minor: null,
});

const meters = (prefix: string, unitPrice: number): Item[] => [
  open(`${prefix}-prepaid`, 'Prepaid meter', 50_000, 50_000_000, unitPrice),
  open(`${prefix}-postpaid`, 'Postpaid meter', 50_000, 50_000_000),
];

const airtime = (prefix: string) => [open(`${prefix}-airtime`, 'Airtime', 5_000, 5_000_000)];

/** The billers of the catalogue. */
export const BILLERS: readonly Biller[] = [
  {
    id: 'harbour-electric',
    name: 'Harbour Electric',
    category: 'electricity',
    customer_reference_name: 'meter number',
    items: meters('harbour', 6_850),
  },
  {
    id: 'savanna-power',
    name: 'Savanna Power',
    category: 'electricity',
    customer_reference_name: 'meter number',
    items: meters('savanna', 7_120),
  },
  {
    id: 'kite-mobile',
    name: 'Kite Mobile',
    category: 'airtime',
    customer_reference_name: 'phone number',
    items: airtime('kite'),
  },
  {
    id: 'lagoon-telecom',
    name: 'Lagoon Telecom',
    category: 'airtime',
    customer_reference_name: 'phone number',
    items: airtime('lagoon'),
  },
  {
    id: 'kite-data',
    name: 'Kite Data',
    category: 'data',
    customer_reference_name: 'phone number',
    items: [
      fixed('kite-1gb-30d', '1 GB for 30 days', 120_000),
      fixed('kite-5gb-30d', '5 GB for 30 days', 350_000),
    ],
  },
  {
    id: 'crescent-tv',
    name: 'Crescent TV',
    category: 'tv',
    customer_reference_name: 'decoder number',
    items: [
      fixed('crescent-basic', 'Basic, one month', 440_000),
      fixed('crescent-family', 'Family, one month', 1_950_000),
    ],
  },
];

const BY_ID = new Map(BILLERS.map((biller) => [biller.id, biller]));

/** Finds a biller. */
export const findBiller = (id: string): Biller | undefined => BY_ID.get(id);

/** Finds an item of a biller. */
export const findItem = (biller: string, item: string): Item | undefined =>
  findBiller(biller)?.items.find(({ id }) => id === item);
