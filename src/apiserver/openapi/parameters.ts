/**
 * The parameters of API requests. Clients read here whether the server knows `dryRun` and `fieldValidation`.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-parameters/common-parameters/
 */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Action, Operation, Parameter } from './operation.ts'

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

const PRETTY = query('pretty', 'string', 'If true, the answer is indented.')
const DRY_RUN = query('dryRun', 'string', 'Do everything but keep the result. The only value is All.')
const FIELD_MANAGER = query(
  'fieldManager',
  'string',
  'The author of the change in managed fields; at most 128 printable characters.',
)
const FIELD_VALIDATION = query(
  'fieldValidation',
  'string',
  'Treatment of unknown and duplicate fields: Ignore, Warn or Strict.',
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
const DELETION = [
  DRY_RUN,
  query('gracePeriodSeconds', 'integer', 'How long the object may take to end, in seconds.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', 'The fate of dependents: Orphan, Background or Foreground.'),
]

/** Parameters of lists, which may be watched, and of the older paths of watches. */
export const WATCH_PARAMETERS: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'Send bookmarks in a watch.'),
  ...SELECTION,
  query('watch', 'boolean', 'Answer with a stream of changes in place of a list.'),
]

const BY_ACTION: Partial<Record<Action, readonly Parameter[]>> = {
  list: WATCH_PARAMETERS,
  post: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION],
  put: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION],
  patch: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE],
  delete: DELETION,
  deletecollection: [...DELETION, ...SELECTION],
}

const CONTAINER = query('container', 'string', 'Which container is meant; needed where there are several.')
const STREAMS = [
  CONTAINER,
  query('stderr', 'boolean', 'Send the standard error of the container.'),
  query('stdin', 'boolean', 'Feed the standard input of the container.'),
  query('stdout', 'boolean', 'Send the standard output of the container.'),
  query('tty', 'boolean', 'Give the container a terminal.'),
]

/** Parameters of sub-resources that lead to what runs, by their names. */
export const CONNECTION_PARAMETERS: Readonly<Record<string, readonly Parameter[]>> = {
  attach: STREAMS,
  exec: [query('command', 'string', 'The program to run and its arguments, each as a parameter.'), ...STREAMS],
  log: [
    CONTAINER,
    query('follow', 'boolean', 'Go on with what is written meanwhile.'),
    query('insecureSkipTLSVerifyBackend', 'boolean', 'Do not check the certificate of where the log comes from.'),
    query('limitBytes', 'integer', 'The greatest number of bytes.'),
    query('previous', 'boolean', 'The log of the container before its last restart.'),
    query('sinceSeconds', 'integer', 'Only what was written in the latest seconds.'),
    query('stream', 'string', 'Which stream of the container: All, Stdout or Stderr.'),
    query('tailLines', 'integer', 'The number of lines from the end.'),
    query('timestamps', 'boolean', 'Begin each line with its time.'),
  ],
  portforward: [query('ports', 'integer', 'The ports to forward; needed over a WebSocket.')],
  proxy: [query('path', 'string', 'The path to request there.')],
}

/** The query parameters of what is done with objects of a type. */
export function parametersOf(action: Action, { form }: ResourceType): readonly Parameter[] {
  // Kubernetes tells of it for custom kinds only.
  if (action === 'get' && form === 'custom') return [RESOURCE_VERSION]
  return BY_ACTION[action] ?? []
}

/** The parameters of all operations of a path. */
export function pathParameters({ path: template, action }: Pick<Operation, 'path' | 'action'>): Parameter[] {
  return [
    ...(template.includes('{name}') ? [path('name', 'The name of the object.')] : []),
    ...(template.includes('{namespace}') ? [path('namespace', 'The namespace of the object.')] : []),
    ...(template.includes('{path}') ? [path('path', 'The path to request there.')] : []),
    ...(action === undefined || action === 'connect' ? [] : [PRETTY]),
  ]
}
