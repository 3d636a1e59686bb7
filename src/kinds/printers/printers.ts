/** Which printer shows which built-in kind. */
import type { GroupResource } from '../../apimachinery/object.ts'
import { clusterPrinters } from './cluster.ts'
import { corePrinters } from './core.ts'
import { placementPrinters } from './placement.ts'
import type { Printer } from './printer.ts'
import { summaryPrinters } from './summaries.ts'
import { workloadPrinters } from './workloads.ts'
import { workStatusPrinters } from './workStatus.ts'

const printers: ReadonlyMap<string, Printer> = new Map(
  Object.entries({
    ...corePrinters,
    ...workloadPrinters,
    ...clusterPrinters,
    ...placementPrinters,
    ...workStatusPrinters,
    ...summaryPrinters,
  }),
)

/** The printer of a built-in kind; `undefined` when it has none (Name and Created At are shown then). */
export function printerFor(type: GroupResource): Printer | undefined {
  return printers.get(`${type.group}/${type.resource}`)
}
