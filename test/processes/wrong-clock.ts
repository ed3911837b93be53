// Loaded before a test's process: its wall clock is an hour fast, an hour slow, or jumps to and fro between the two.
// The monotonic clock stays right, as it does on a machine whose wall clock is set; but where the test lets minutes pass, it alone goes on
// by five of them at each SIGCONT.
const HOUR_MS = 3_600_000;
const PASSES_MS = 300_000;
const JUMP_EVERY_MS = 150;

const RightDate = Date;

function shiftMs(): number {
  if (process.env.WRONG_CLOCK === 'passing') return 0;
  if (process.env.WRONG_CLOCK === 'fast') return HOUR_MS;
  if (process.env.WRONG_CLOCK === 'slow') return -HOUR_MS;
  return HOUR_MS * ((Math.floor(performance.now() / JUMP_EVERY_MS) % 3) - 1);
}

class WrongDate extends RightDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(WrongDate.now());
    else super(...(args as [number]));
  }

  static override now(): number {
    return RightDate.now() + shiftMs();
  }
}

globalThis.Date = WrongDate as DateConstructor;

if (process.env.WRONG_CLOCK === 'passing') {
  const rightNow = performance.now.bind(performance);
  let passedMs = 0;
  performance.now = () => rightNow() + passedMs;
  process.on('SIGCONT', () => {
    passedMs += PASSES_MS;
  });
}
