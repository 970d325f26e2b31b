export { delivery } from './delivery.js';
export { transfer } from './transfer.js';
