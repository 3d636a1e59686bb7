/** Faults as annotations list them, shortened: they quote users' own texts, and there may be thousands. */
const MAX_CHARACTERS = 1000
const MAX_FAULTS = 50

/** In the order given; of many, the first ones and how many more there are. */
export function listedFaults(faults: readonly string[]): string[] {
  const listed = faults.slice(0, MAX_FAULTS).map(begun)
  if (faults.length > MAX_FAULTS) listed.push(`and ${faults.length - MAX_FAULTS} more faults`)
  return listed
}

/** A fault names its place first. */
function begun(fault: string): string {
  return fault.length <= MAX_CHARACTERS ? fault : `${fault.slice(0, MAX_CHARACTERS)}…`
}
