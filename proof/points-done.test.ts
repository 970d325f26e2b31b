import { dieAtEveryPoint } from './points.js';

dieAtEveryPoint({
  name: 'paid',
  suffix: '789',
  ends: 'completed',
  paid: 1,
  calledBack: { suffix: '001', tell: null },
});
