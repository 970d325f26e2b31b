import type { z } from 'zod';
import { ownName, plainText } from '../../platform/http/wire.js';
import { freeForm } from '../cards/index.js';

const changeFields = {
  reason: plainText(200)
    .optional()
    .meta({ description: 'The reason for the change.', example: 'reported as lost' }),
  request_id: ownName(
    'Your own id of the request. It is sent to the issuer.',
    'req-1042',
  ).optional(),
};

/** The body of a lock or an unlock. Every field is optional. */
export const cardStateChangeBody = freeForm('CardStateChange', changeFields);

/** The body of a closing. Every field is optional. */
export const cardClosingBody = freeForm('CardClosing', {
  ...changeFields,
  transaction_reference: ownName(
    'Your own reference of the return of the balance, unique for the card. It is sent to the issuer.',
    'rest-7',
  ).optional(),
});

/** The validated body of a lock, an unlock or a closing. */
export type CardStateChangeBody = z.output<typeof cardStateChangeBody> & {
  transaction_reference?: string | undefined;
};
