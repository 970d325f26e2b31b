/**
 * Descriptions of fields that mean the same wherever they occur, for the OpenAPI document. A schema's own description comes
 * first.
 */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  accepted: 'Number of those that were accepted.',
  account_name: 'Name of the account.',
  account_number: 'Number of the account.',
  actor: 'The party that caused the step: `bursar`, `operator`, or the provider.',
  atm: 'Cash machines.',
  bank: 'Name of the bank.',
  bank_account: 'The account of a bank.',
  bank_code: 'CBN or NIP code of the bank.',
  biller_id: 'Id of the biller, see `GET /billpay/billers`.',
  brand: 'Scheme of the card.',
  bvn: 'The Bank Verification Number.',
  card_id: 'Id of the card.',
  channel: 'Channel of the purchase.',
  channels: 'Channels on which the card works.',
  charged_periods: 'Number of periods that were charged.',
  check_type: 'The data that are checked.',
  code: 'The reason or the name, for programs.',
  completed: 'Number of those that have succeeded.',
  contactless: 'Contactless payments.',
  counts: 'Numbers of items.',
  currency: 'ISO 4217 code of the currency.',
  customer: 'The customer.',
  customer_id: 'Id of the customer.',
  customer_reference: 'The number of the customer at the biller, such as that of a meter.',
  data: 'The result, or the results of this page.',
  deposit_id: 'Id of the deposit.',
  description: 'Your own text for people.',
  detail: 'More about it, for people; null without more.',
  details: 'More about the reason; its fields depend on `code`.',
  email: 'E-mail address.',
  enabled: 'True if it is in force.',
  endpoint_id: 'Id of the endpoint.',
  error: 'The reason of the refusal.',
  event_id: 'Id of the event.',
  failed: 'Number of those that have failed.',
  failure: 'Code and text of the reason; null unless it has failed.',
  field: 'The first field that is not valid.',
  first_name: 'First name.',
  has_more: 'True if there is another page.',
  id: 'Id.',
  index: 'Position in the request, from 0.',
  interval: 'Unit of the time between two charges.',
  interval_count: 'Number of units between two charges.',
  item_id: 'Id of the item, see `GET /billpay/billers/{biller_id}/items`.',
  items: 'The items, in the order of the request.',
  kyc_id: 'Id of the identity check.',
  last4: 'Last four digits.',
  last_name: 'Last name.',
  limit: 'Results per page.',
  merchant: 'The merchant; null if the network did not name it.',
  message: 'The reason, for people. It may change.',
  metadata: 'Your own data, stored with the resource.',
  name: 'Name.',
  narration: 'Purpose of the payment.',
  nin: 'The National Identification Number.',
  nip_code: 'NIP code of the bank.',
  on_mismatch: 'The treatment of a deposit with another amount than expected.',
  online: 'Purchases on the internet.',
  operation_id: 'Id of the card operation.',
  page: 'Number of the page.',
  pages: 'Number of pages.',
  pagination: 'The position of this page in the list.',
  payment_token_id: 'Id of the payment token; null without one.',
  pending: 'Number of those that have not been sent yet.',
  phone: 'Phone number.',
  pos: 'Purchases at a terminal.',
  processing: 'Number of those whose outcome is not known yet.',
  provider: 'Name of the provider that executes it.',
  provider_request_id: 'Id of the request at the provider, for questions to it; null without one.',
  provider_reference: 'Id at the provider.',
  reason: 'The reason, for people.',
  received: 'True: the message is stored.',
  recipient_account: 'NUBAN account number.',
  recipient_bank_code: 'CBN or NIP code of the bank.',
  reference: 'Your own name of it, unique for ever. The default is its id.',
  refused: 'Number of those that were refused.',
  request_id: 'Your own id of the request; null without one.',
  sender: 'The payer, as far as the bank has named it.',
  session_id: 'NIP session id of the payment; null until it is known.',
  status: 'The present state.',
  timezone: 'Name of the time zone in which days are counted.',
  total: 'Number over all pages, or of all items.',
  transaction_reference: 'Your own name of the operation; null without one.',
  type: 'The kind.',
  url: 'Address of the page that the customer has to open.',
  virtual_account_id: 'Id of the virtual account; null if there is none.',
};

/** Descriptions of parameters whose name says something else about a field. */
const PARAMETERS: Readonly<Record<string, string>> = {
  account_number: 'Only results with this account number.',
  customer_id: 'Your own id of the customer.',
  id: 'Id of the resource.',
  provider: 'Name of the provider.',
  provider_reference: 'Only results with this id at the provider.',
  session_id: 'Only results with this NIP session id.',
  status: 'Only results in this state.',
  'webhook-id': 'Id of the event: the same in every attempt.',
  'webhook-signature': 'Signatures of this attempt according to Standard Webhooks.',
  'webhook-timestamp': 'Time of this attempt, in Unix seconds.',
};

type Schema = { description?: string; anyOf?: Schema[] };
type Parameter = { name: string; description?: string; schema: Schema };

/** Completes a document: every property of an object and every parameter gets a description, its own or that of its name. */
export function describeFields(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [name, each] of Object.entries(part))
    if (!/^examples?$/.test(name)) describeFields(each);
  if ('parameters' in part && Array.isArray(part.parameters)) describeParameters(part.parameters);
  if (!('properties' in part) || !('type' in part)) return;
  for (const [name, property] of Object.entries(part.properties as Record<string, Schema>)) {
    const description =
      property.description ?? property.anyOf?.[0]?.description ?? DESCRIPTIONS[name];
    if (description !== undefined) property.description = description;
  }
}

function describeParameters(parameters: Parameter[]): void {
  for (const each of parameters) {
    const description = each.schema.description ?? PARAMETERS[each.name] ?? DESCRIPTIONS[each.name];
    if (description !== undefined) each.description ??= description;
  }
}
