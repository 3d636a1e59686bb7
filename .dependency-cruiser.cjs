// The rooms of docs/architecture.md and their order: a room may import only from itself and from rooms before it.
// The syncer and the controllers stand side by side: the syncer knows the object model and the client, nothing else.
const rooms = [
  'src/program',
  'openapi',
  'src/apimachinery',
  'src/storage',
  'src/apiserver',
  'src/client',
  'src/controllers',
  'src/syncer',
  'src/cli',
]
// What the server's own reconcilers share with controllers: it knows the object model and nothing else.
const runtime = '^src/client/(workqueue|backoff|clock|logger)[.]ts$'
const order = rooms.map((room, index) => ({
  name: `${room}: only rooms above it`,
  severity: 'error',
  from: { path: `^${room}/` },
  to: {
    path: `^(${[...rooms.slice(index + 1), 'test', 'bench', 'demo'].join('|')})/`,
    ...(room === 'src/apiserver' && { pathNot: runtime }),
  },
}))
module.exports = {
  forbidden: [
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    ...order,
    {
      name: 'the syncer stands alone',
      severity: 'error',
      from: { path: '^src/syncer/' },
      to: { path: '^src/(storage|apiserver|controllers)/' },
    },
    {
      name: 'the runtime that the server shares stands above it',
      severity: 'error',
      from: { path: runtime },
      to: { path: '^src/', pathNot: [runtime, '^src/apimachinery/'] },
    },
    {
      name: 'controllers use the API',
      severity: 'error',
      from: { path: '^src/controllers/' },
      to: { path: '^src/(storage|apiserver)/' },
    },
    {
      name: 'the catalog needs no server',
      severity: 'error',
      from: { path: '^src/apimachinery/' },
      to: { path: '^src/(?!apimachinery/)' },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json', '.cjs', '.mjs'] },
  },
}
