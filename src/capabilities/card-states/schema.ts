import { z } from 'zod';
import { plainText } from '../../platform/http/wire.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { freeForm } from '../cards/index.js';

/** The body of a lock, an unlock or a closing. Every field is optional. */
export const cardStateChangeBody = freeForm('CardStateChange', {
  reason: plainText(200)
    .optional()
    .meta({ description: 'The reason for the change.', example: 'reported as lost' }),
  request_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,100}$/, textErrors(100, PRINTABLE))
    .optional()
    .meta({
      description: 'Your own id of the request. It is sent to the issuer.',
      example: 'req-1042',
    }),
});

/** The validated body of a lock, an unlock or a closing. */
export type CardStateChangeBody = z.output<typeof cardStateChangeBody>;
