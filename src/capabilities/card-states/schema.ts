import { z } from 'zod';
import { plainText } from '../../platform/http/wire.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { freeForm } from '../cards/index.js';

const name = () => z.string().regex(/^[\x21-\x7e]{1,100}$/, textErrors(100, PRINTABLE));

const changeFields = {
  reason: plainText(200)
    .optional()
    .meta({ description: 'The reason for the change.', example: 'reported as lost' }),
  request_id: name().optional().meta({
    description: 'Your own id of the request. It is sent to the issuer.',
    example: 'req-1042',
  }),
};

/** The body of a lock or an unlock. Every field is optional. */
export const cardStateChangeBody = freeForm('CardStateChange', changeFields);

/** The body of a closing. Every field is optional. */
export const cardClosingBody = freeForm('CardClosing', {
  ...changeFields,
  transaction_reference: name().optional().meta({
    description:
      'Your own reference of the return of the balance, unique for the card. It is sent to the issuer.',
    example: 'rest-7',
  }),
});

/** The validated body of a lock, an unlock or a closing. */
export type CardStateChangeBody = z.output<typeof cardStateChangeBody> & {
  transaction_reference?: string | undefined;
};
