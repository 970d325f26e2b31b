export { cardAuthorization } from './card-authorization.js';
export { cardEvent } from './card-event.js';
export { cardFunding } from './card-funding.js';
export { cardIssuing } from './card-issuing.js';
export { delivery } from './delivery.js';
export { replay } from './replay.js';
export { transferBatch } from './transfer-batch.js';
export { transfer } from './transfer.js';
