const { processOfNode } = globalThis as unknown as { processOfNode: NodeJS.Process };

/** Notes each warning of Node from now on, such as of a timer that is too long or of too many listeners; `stop` ends that. */
export function noteWarnings(): { warnings: Error[]; stop(): void } {
  const warnings: Error[] = [];
  // Of modules in a virtual machine, which Jest needs, it warns with the first import.
  const note = (warning: Error) => {
    if (warning.name !== 'ExperimentalWarning') warnings.push(warning);
  };
  processOfNode.on('warning', note);
  return { warnings, stop: () => void processOfNode.off('warning', note) };
}
