/** Faults about references, `%(name)`, to parameters that no Location defines. Nobody means them as text: that is written `%%(name)`. */
import { didYouMean } from '../../../apimachinery/nearest.ts'
import type { Steps } from '../../../apimachinery/steps.ts'

/** Names that get a fault each; those behind them are counted. */
const MAX_NAMES = 20
/** Labels that a name is compared with, and names that are compared: each pair takes up to 30 microseconds. */
const MAX_COMPARED = 50
const MAX_HINTS = 3
/** As keys of labels and annotations are. */
const NAME = /^[\w./-]{1,317}$/
/** Between its brackets may stand half a script, which is for readers of the object alone. */
const NO_NAME = 'a reference %(…) holds what is no name of a parameter; for the text itself write %%(…)'

interface Places {
  /** Such as `in Location "florin"`. */
  readonly where: string
  /** Names of labels and of a Customizer's own parameters. Those of annotations are for the inventory alone, and no hint gives them away. */
  readonly known: readonly string[]
}

export function* undefinedParameters(names: Iterable<string>, { where, known }: Places): Steps<string[]> {
  const faults: string[] = []
  const labels = known.slice(0, MAX_COMPARED)
  let more = 0
  let isStrange = false
  for (const name of names) {
    if (!NAME.test(name)) isStrange = true
    else if (faults.length === MAX_NAMES) more++
    else {
      // a Customizer may define the name itself for other Locations
      const others = labels.filter(label => label !== name)
      const hint = faults.length < MAX_HINTS ? didYouMean(name, others) : ''
      const remedy = `${hint === '' ? '; for' : ' For'} the text itself write %%(${name})`
      faults.push(`parameter ${JSON.stringify(name)} is not defined ${where}${hint}${remedy}`)
    }
    yield
  }
  if (more > 0) faults.push(`${more} more parameters are not defined ${where}`)
  if (isStrange) faults.push(NO_NAME)
  return faults
}
