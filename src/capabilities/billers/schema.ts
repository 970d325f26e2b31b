import { z } from 'zod';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { amountMinor, idempotencyKey, pageQuery } from '../../platform/http/wire.js';

/** Schema of an id in the catalogue of billers. */
const catalogueId = (description: string, example: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be an id of the catalogue')
    .meta({ description, example });

/** The id of a biller in a request or a path. */
export const billerId = catalogueId('Id of the biller, see `GET /billpay/billers`.', 'kite-data');

/** The customer of a biller in a request. */
export const billCustomerFields = {
  biller_id: billerId,
  item_id: catalogueId(
    'Id of the item, see `GET /billpay/billers/{biller_id}/items`.',
    'kite-1gb-30d',
  ),
  customer_reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,64}$/, textErrors(64, PRINTABLE))
    .meta({
      description:
        'The biller’s reference of its customer, such as a meter, phone or decoder number. A number that is also a valid card number is refused.',
      example: '08030001234',
    }),
};

/** The body of POST /billpay/validate. */
export const validateBillCustomerBody = z
  .strictObject({ ...billCustomerFields, idempotency_key: idempotencyKey.optional() })
  .meta({
    id: 'BillCustomerToValidate',
    description: 'A customer of a biller, to be checked before a payment.',
  });

/** The query of GET /billpay/categories, and of the items of a biller. The page is long enough for most lists. */
export const catalogueQuery = z.strictObject(pageQuery(100));

/** The query of GET /billpay/billers. */
export const listBillersQuery = z.strictObject({
  ...pageQuery(),
  category: catalogueId('Id of a category.', 'data').optional(),
});

/** A category of billers as clients get it. */
export const billCategoryResource = z.object({ id: z.string(), name: z.string() }).meta({
  id: 'BillCategory',
  description: 'A category of billers.',
  example: { id: 'data', name: 'Mobile data' },
});

/** The biller in the examples of the API. */
export const exampleBiller = {
  id: 'kite-data',
  name: 'Kite Data',
  category: 'data',
  customer_reference_name: 'phone number',
};

/** A biller as clients get it. */
export const billerResource = z
  .object({
    id: z.string(),
    name: z.string(),
    category: z.string().meta({ description: 'Id of its category.' }),
    customer_reference_name: z.string().meta({
      description: 'The biller’s own word for the reference of its customers.',
    }),
  })
  .meta({
    id: 'Biller',
    description: 'A company whose bills can be paid.',
    example: exampleBiller,
  });

/** An item of a biller as clients get it. */
export const billItemResource = z
  .object({
    id: z.string(),
    biller_id: z.string(),
    name: z.string(),
    amount_minor: amountMinor(
      'Price in kobo. Null if you choose the amount within the bounds.',
    ).nullable(),
    min_amount_minor: amountMinor('Least amount in kobo.'),
    max_amount_minor: amountMinor('Highest amount in kobo.'),
    gives_token: z.boolean().meta({
      description: 'True for a prepaid meter: the receipt of a payment has a token.',
    }),
  })
  .meta({
    id: 'BillItem',
    description: 'An item of a biller, such as a bouquet or a meter.',
    example: {
      id: 'kite-1gb-30d',
      biller_id: 'kite-data',
      name: '1 GB for 30 days',
      amount_minor: 120_000,
      min_amount_minor: 120_000,
      max_amount_minor: 120_000,
      gives_token: false,
    },
  });

/** The customer in the examples of the API. */
export const exampleBillCustomer = {
  biller_id: 'kite-data',
  item_id: 'kite-1gb-30d',
  customer_reference: '08030001234',
};

/** A customer whom the biller knows, as clients get it. */
export const billCustomerResource = z
  .object({
    biller_id: z.string(),
    item_id: z.string(),
    customer_reference: z.string(),
    customer_name: z.string().nullable().meta({
      description: 'Name of the customer, from the biller. Null if the biller tells none.',
    }),
  })
  .meta({
    id: 'BillCustomer',
    description: 'A customer as the biller knows it.',
    example: { ...exampleBillCustomer, customer_name: 'OLUWASEUN ABUBAKAR' },
  });
