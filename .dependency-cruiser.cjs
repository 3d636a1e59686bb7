// The rooms of docs/architecture.md and their order: a room may import only from itself and from rooms before it.
// The syncer and the controllers stand side by side: the syncer knows the object model and the client, nothing else.
const rooms = [
  'openapi',
  'src/apimachinery',
  'src/storage',
  'src/apiserver',
  'src/client',
  'src/controllers',
  'src/syncer',
  'src/cli',
]
const order = rooms.map((room, index) => ({
  name: `${room}: only rooms above it`,
  severity: 'error',
  from: { path: `^${room}/` },
  to: { path: `^(${[...rooms.slice(index + 1), 'test', 'bench', 'demo'].join('|')})/` },
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
