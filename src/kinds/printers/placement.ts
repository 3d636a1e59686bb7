/** Printers of kinds of placement whose columns no JSONPath can show; those of the others stand in their definitions. */
import { list, records, str } from '../../apimachinery/fields.ts'
import { column, type Printer, printer } from './printer.ts'

const slices = printer(
  column(
    'Placement',
    o =>
      str(
        records(o, 'metadata', 'ownerReferences').find(({ kind }) => kind === 'EdgePlacement'),
        'name',
      ) || str(o, 'metadata', 'labels', 'edge.kubestellar.io/edge-placement'),
    { description: 'The EdgePlacement whose destinations it tells.' },
  ),
  column('Destinations', o => list(o, 'destinations').length, {
    type: 'integer',
    description: 'How many it has; a placement may have several slices.',
  }),
)

export const placementPrinters: Record<string, Printer> = {
  'edge.kubestellar.io/singleplacementslices': slices,
}
