/** How many ms of CPU this process has used: what a busy machine makes it wait for does not count. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
