/**
 * The parameters of API requests. Clients read here whether the server knows `dryRun` and `fieldValidation`.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-parameters/common-parameters/
 */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Action, Operation } from './operations.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query'
  type: 'string' | 'integer' | 'boolean'
  description: string
  required?: true
}

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
})
const path = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  type: 'string',
  description,
  required: true,
})

const DRY_RUN = query('dryRun', 'string', 'Do everything but keep the result. The only value is All.')
const FIELD_MANAGER = query(
  'fieldManager',
  'string',
  'Who makes the change, for managed fields; at most 128 printable characters.',
)
const FIELD_VALIDATION = query(
  'fieldValidation',
  'string',
  'What to do about unknown and duplicate fields: Ignore, Warn or Strict.',
)
const FORCE = query('force', 'boolean', 'Take fields from other managers. For apply requests only.')
const RESOURCE_VERSION = query('resourceVersion', 'string', 'At which version to read.')
const SELECTION = [
  query('continue', 'string', 'The token of the page to continue with, from the previous page.'),
  query('fieldSelector', 'string', 'Restricts the objects by their fields.'),
  query('labelSelector', 'string', 'Restricts the objects by their labels.'),
  query('limit', 'integer', 'The greatest number of objects in one page.'),
  RESOURCE_VERSION,
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  query('sendInitialEvents', 'boolean', 'Start a watch with the objects that exist.'),
  query('timeoutSeconds', 'integer', 'When to end the request, in seconds.'),
]
const WATCH = [
  query('allowWatchBookmarks', 'boolean', 'Send bookmarks in a watch.'),
  query('watch', 'boolean', 'Answer with a stream of changes in place of a list.'),
]
const DELETION = [
  DRY_RUN,
  query('gracePeriodSeconds', 'integer', 'How long the object may take to end, in seconds.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
]

const BY_ACTION: Record<Action, readonly Parameter[]> = {
  get: [],
  list: [...SELECTION, ...WATCH],
  post: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION],
  put: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION],
  patch: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE],
  delete: DELETION,
  deletecollection: [...DELETION, ...SELECTION],
}

/** The query parameters of an operation. */
export function parametersOf({ action }: Operation, { form }: ResourceType): readonly Parameter[] {
  // Kubernetes tells of it for custom kinds only.
  if (action === 'get' && form === 'custom') return [RESOURCE_VERSION]
  return BY_ACTION[action]
}

/** The parameters of all operations of a path. */
export function pathParameters(template: string): Parameter[] {
  return [
    ...(template.includes('{name}') ? [path('name', 'The name of the object.')] : []),
    ...(template.includes('{namespace}') ? [path('namespace', 'The namespace of the object.')] : []),
    query('pretty', 'string', 'If true, the answer is indented.'),
  ]
}
