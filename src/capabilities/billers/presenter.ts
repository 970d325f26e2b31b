import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import type {
  BillCategory,
  BillCustomer,
  Biller,
  BillItem,
} from '../../core/providers/bill-provider.js';
import type {
  billCategoryResource,
  billCustomerResource,
  billerResource,
  billItemResource,
} from './schema.js';

/** Presents a category of billers. */
export const presentCategory = ({
  id,
  name,
}: BillCategory): z.infer<typeof billCategoryResource> => ({ id, name });

/** Presents a biller. */
export const presentBiller = (biller: Biller): z.infer<typeof billerResource> => ({
  id: biller.id,
  name: biller.name,
  category: biller.category,
  customer_reference_name: biller.customerReferenceName,
});

/** Presents an item of a biller. */
export const presentItem = (
  billerId: string,
  item: BillItem,
): z.infer<typeof billItemResource> => ({
  id: item.id,
  biller_id: billerId,
  name: item.name,
  amount_minor: item.fixedMinor === null ? null : toWireAmount(item.fixedMinor),
  min_amount_minor: toWireAmount(item.minMinor),
  max_amount_minor: toWireAmount(item.maxMinor),
  gives_token: item.givesToken,
});

/** Presents a customer with the name that the biller has told. */
export const presentCustomer = (
  customer: BillCustomer,
  name: string | null,
): z.infer<typeof billCustomerResource> => ({
  biller_id: customer.billerId,
  item_id: customer.itemId,
  customer_reference: customer.customerReference,
  customer_name: name,
});
