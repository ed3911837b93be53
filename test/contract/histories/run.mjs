// npm run test:histories [-- <seeds> <steps> <first seed>]: random histories that a small and a real Redis answer, as many and as long as one has time
// for. Unless said otherwise 20 of 5 000 steps.
import { spawnSync } from 'node:child_process';

const [seeds = '20', steps = '5000', first = '1'] = process.argv.slice(2);
const { status } = spawnSync('npm', ['test', '--', 'test/contract/histories'], {
  stdio: 'inherit',
  env: { ...process.env, HISTORY_SEEDS: seeds, HISTORY_STEPS: steps, HISTORY_SEED: first },
});
process.exit(status ?? 1);
