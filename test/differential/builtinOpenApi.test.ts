/** OpenAPI v2 of built-in kinds: the requests that Orrery tells of, and those of a real kube-apiserver for the same groups. */
import t from 'tap'
import { type DocumentedOperation, operationsOfV2 } from '../apiserver/openapi/documentedClient.ts'
import { startTestServer } from '../support/server.ts'
import { noPeer, startPeer } from './peer.ts'

/** Where 1.20 says something else, and why. */
const UNLIKE_120: readonly { at: RegExp; why: string }[] = [
  { at: /^GET \/logs\//, why: 'a space has no nodes whose files one could read' },
  { at: /^GET \/(\.well-known\/openid-configuration|openid\/v1\/jwks)\/?: /, why: 'later releases write no slash' },
  { at: /: parameter (sendInitialEvents|fieldValidation|stream)$/, why: 'newer than 1.20' },
  { at: /: parameter (export|exact)$/, why: 'gone since 1.21' },
  { at: /^PATCH .*: 201 /, why: 'later releases tell that an apply creates' },
  { at: /\/eviction: kind policy\/v1(beta1)?\/Eviction$/, why: 'policy/v1 came with 1.22' },
  { at: /^GET \/apis\/extensions\//, why: 'gone since 1.22' },
  { at: /^DELETE .*\/services: /, why: 'Services cannot be deleted together before 1.23' },
  { at: /^DELETE .*\/services\/{name}: /, why: 'later releases answer the Service' },
]

/** The statements about operations, one by one. */
function statements(operations: readonly DocumentedOperation[], isShared: (path: string) => boolean): Set<string> {
  const said = new Set<string>()
  for (const operation of operations) {
    const { path, method, id, action, kind, parameters, consumes, produces, answers } = operation
    if (!isShared(path)) continue
    const say = (what: string): Set<string> => said.add(`${method} ${path}: ${what}`)
    say(`id ${id}`)
    say(`action ${action}`)
    say(`kind ${kind}`)
    say(`consumes ${[...consumes].sort()}`)
    say(`produces ${[...produces].sort()}`)
    for (const { name } of parameters) say(`parameter ${name}`)
    for (const [code, answer] of Object.entries(answers)) say(`${code} ${answer.replace(/_v2$/, '')}`)
  }
  return said
}

t.test('OpenAPI v2 of built-in kinds', { skip: noPeer }, async t => {
  const { api } = await startTestServer(t)
  const peer = await startPeer(t)
  const [ours, theirs] = await Promise.all([operationsOfV2(api), operationsOfV2(peer)])
  const resourceOf = (path: string): string => /^\/apis?\/.*?v\d+[^/]*\/|^/.exec(path)![0]
  const served = new Set(ours.map(({ path }) => resourceOf(path)))
  const known = new Set(theirs.map(({ path }) => path))
  const [mine, others] = [
    statements(ours, path => known.has(path)),
    statements(theirs, path => served.has(resourceOf(path))),
  ]
  const explained = new Set<string>()
  for (const statement of new Set([...mine, ...others])) {
    if (mine.has(statement) && others.has(statement)) continue
    const unlike = UNLIKE_120.find(({ at }) => at.test(statement))
    if (unlike) explained.add(unlike.why)
    else t.fail(`${mine.has(statement) ? 'Orrery' : 'kube-apiserver'} alone says of ${statement}`)
  }
  t.ok(others.size > 8000, `${others.size} statements`)
  for (const { why } of UNLIKE_120) t.ok(explained.has(why), `still so: ${why}`)
})
