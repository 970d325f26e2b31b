export { cardFunding } from './card-funding.js';
export { cardEvent } from './card-event.js';
export { cardIssuing } from './card-issuing.js';
export { charge } from './charge.js';
export { delivery } from './delivery.js';
export { replay } from './replay.js';
export { transfer } from './transfer.js';
export { transferBatch } from './transfer-batch.js';
