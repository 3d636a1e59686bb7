// The rooms of docs/architecture.md and their order: a room may import only from itself and from rooms before it. Inside of
// src/apiserver and src/syncer the folders have an order, too. What is not in a list (files beside the folders) may import from all of it.
const ROOMS = [
  'src/program',
  'openapi',
  'src/apimachinery',
  'src/placement',
  'src/storage',
  'src/client',
  'src/kinds',
  'src/apiserver',
  'src/controllers',
  'src/syncer',
  'src/cli',
]
const APISERVER = [
  'request',
  'metrics',
  'shortage',
  'pki',
  'types',
  'catalog',
  'auth',
  'registry',
  'following',
  'spaces',
  'access',
  'flowcontrol',
  'serviceNetwork',
  'kubernetesService',
  'admission',
  'operations',
  'authority',
  'embedded',
  'definitions',
  'serviceAccounts',
  'tables',
  'audit',
  'connections',
  'http',
  'exchange',
  'health',
  'discovery',
  'endpoints',
  'openapi',
  'reported',
  'pages',
  'backup',
  'threads',
  'aggregated',
].map(folder => `src/apiserver/${folder}`)

const SYNCER = ['objects', 'mailbox', 'sees', 'whose', 'tells', 'down', 'up'].map(folder => `src/syncer/${folder}`)

// Shared parts of the command lines stand in shell/; `orrery` runs both plugins, too.
const CLI = ['shell', 'ws', 'kubestellar', 'orrery'].map(folder => `src/cli/${folder}`)
// What stands beside these rooms starts them, and takes an event or a task to one of them.
const PLACEMENT = [
  'signals',
  'inventory',
  'join',
  'mailboxes',
  'retention',
  'copies',
  'status',
  'summaries',
  'rollout',
  'feedback',
  'preview',
].map(room => `src/controllers/placement/${room}`)

const inOrder = (folders, last = []) =>
  folders.map((folder, index) => ({
    name: `${folder}: only what stands before it`,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: { path: `^(${[...folders.slice(index + 1), ...last].join('|')})/` },
  }))

const never = (name, from, to) => ({ name, severity: 'error', from: { path: from }, to: { path: to } })

module.exports = {
  forbidden: [
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    ...inOrder(ROOMS, ['tools', 'test', 'bench', 'demo']),
    ...inOrder(APISERVER),
    ...inOrder(SYNCER),
    never('the parts of the syncer do not know who joins them', '^src/syncer/.+/', '^src/syncer/[^/]+[.]ts$'),
    ...inOrder(CLI),
    never('a plugin needs no other plugin', '^src/cli/kubestellar/', '^src/cli/ws/'),
    ...inOrder(PLACEMENT),
    never(
      'rooms of placement do not know what puts them together',
      '^src/controllers/placement/[^/]+/',
      '^src/controllers/placement/[^/]+[.]ts$',
    ),
    never('nobody in a folder needs the whole server', '^src/apiserver/.+/', '^src/apiserver/[^/]+[.]ts$'),
    never('the object model does no I/O', '^src/apimachinery/', '^src/(?!apimachinery/)'),
    never('the language of placement does no I/O', '^src/placement/', '^src/(?!apimachinery/|placement/)'),
    never('the store knows no placement', '^src/storage/', '^src/placement/'),
    never(
      "Go's words are for the server's answers",
      '^src/(?!apimachinery/|kinds/|apiserver/)',
      '^src/apimachinery/go/',
    ),
    never('clients know the API alone', '^src/client/', '^src/storage/'),
    never('kinds need no server', '^src/kinds/', '^src/(storage|client)/'),
    never(
      'the server knows no placement, but for who may do what about it',
      '^src/(kinds|apiserver/(?!authority/))',
      '^src/placement/(words/placement|select/upsyncSets)[.]ts$',
    ),
    never('controllers and the syncer use the API', '^src/(controllers|syncer)/', '^src/(storage|kinds|apiserver)/'),
    never('controllers and the syncer stand side by side', '^src/syncer/', '^src/controllers/'),
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json', '.cjs', '.mjs'] },
  },
}
