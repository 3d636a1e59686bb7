/** The requests that make or change what an EdgePlacement says. */
import { EDGE_GROUP, EDGE_PLACEMENTS } from '../../placement/words/placement.ts'
import type { Admission } from '../registry/admission.ts'

export const isPlacementWrite: Admission['handles'] = ({ group, resource }, operation, subresource) =>
  group === EDGE_GROUP && resource === EDGE_PLACEMENTS.resource && operation !== 'DELETE' && subresource === ''
