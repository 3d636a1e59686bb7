/** Outcomes of objects in clusters: by their subject, as their own names are one long word. */
import { at, list, str } from '../../apimachinery/fields.ts'
import { ageColumn, column, nameColumn, type Printer, text } from './printer.ts'

const printer: Printer = {
  columns: [
    text('Location', 'spec.location.name'),
    text('Kind', 'spec.sourceRef.kind'),
    text('Object', 'spec.sourceRef.name'),
    text('State', 'status.state'),
    text('Health', 'status.health'),
    column('Reason', reasonOf, { field: 'status.reason' }),
    ageColumn,
    column('Message', object => str(object, 'status', 'message') || str(object, 'status', 'healthMessage'), {
      wide: true,
      field: 'status.message',
    }),
    column('Placements', object => list(object, 'spec', 'placements').join(','), {
      wide: true,
      field: 'spec.placements',
    }),
    { ...nameColumn, priority: 1 },
  ],
}

/** One that says the state again says nothing. */
function reasonOf(object: Parameters<Printer['columns'][number]['cell']>[0]): string {
  const reason = str(object, 'status', 'reason')
  return reason === at(object, 'status', 'state') ? '' : reason
}

export const workStatusPrinters: Readonly<Record<string, Printer>> = {
  'edge.kubestellar.io/workstatuses': printer,
  'edge.kubestellar.io/clusterworkstatuses': printer,
}
