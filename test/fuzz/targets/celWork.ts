/** Expressions that are put together at random to be dear, in policies that concern the next writes; as a tenant. */
import fc from 'fast-check'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const API = 'admissionregistration.k8s.io/v1'

/** Values of a type, from small ones and from what makes them large. */
const made = fc.letrec<{ text: string; list: string; number: string; truth: string }>(tie => ({
  text: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'cel' },
    fc.constantFrom('object.data.b', "'x'", "'(x+x+)+y'", "''", 'object.metadata.name'),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('text'), tie('text'), tie('text')).map(([a, b, c]) => `${a}.replace(${b}, ${c})`),
    fc.tuple(tie('list'), tie('text')).map(([a, b]) => `${a}.map(e, string(e)).join(${b})`),
    fc.tuple(tie('text'), tie('number')).map(([a, b]) => `${a}.substring(${b})`),
    tie('text').map(a => `${a}.upperAscii().lowerAscii()`),
    tie('list').map(a => `'%s'.format([${a}])`),
  ),
  list: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'cel' },
    fc.constantFrom('[1, 2, 3]', '[object.data.b]', "['a', 'b']"),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.split(${b})`),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => `${a}.map(v, ${b})`),
    fc.tuple(tie('list'), tie('truth')).map(([a, b]) => `${a}.filter(v, ${b})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.findAll(${b})`),
  ),
  number: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'cel' },
    fc.constantFrom('0', '1', '100', '9223372036854775807'),
    tie('text').map(a => `${a}.size()`),
    tie('list').map(a => `size(${a})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.lastIndexOf(${b})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.indexOf(${b})`),
  ),
  truth: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'cel' },
    fc.constantFrom('true', 'false'),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.contains(${b})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.matches(${b})`),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => `${a} == ${b}`),
    fc.tuple(tie('list'), tie('truth')).map(([a, b]) => `${a}.all(v, ${b})`),
    fc.tuple(tie('list'), tie('truth')).map(([a, b]) => `${a}.exists(w, ${b})`),
    fc.tuple(tie('number'), tie('number')).map(([a, b]) => `${a} < ${b}`),
    fc.tuple(tie('text'), tie('list')).map(([a, b]) => `${a} in ${b}.map(e, string(e))`),
  ),
}))

/** Nested loops, which is where the work is. */
const truth = fc
  .tuple(made.list, made.list, made.truth, fc.integer({ min: 0, max: 2 }))
  .map(([a, b, inner, depth]) => [inner, `${a}.all(p, ${inner})`, `${a}.all(p, ${b}.all(q, ${inner}))`][depth]!)

const cases = fc.record({
  expressions: fc.array(truth, { minLength: 1, maxLength: 4 }),
  message: fc.option(made.text),
  bytes: fc.constantFrom(0, 10, 1000, 100_000, 900_000),
  letter: fc.constantFrom('x', ',', 'é', '(x', ' '),
  dryRun: fc.boolean(),
})
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

async function play(world: World, { expressions, message, bytes, letter, dryRun }: Case): Promise<void> {
  const prefix = `/clusters/${world.spaces.alice}`
  const as = 'alice'
  const type = 'application/json'
  const policies = `${prefix}${GROUP}/validatingadmissionpolicies`
  const bindings = `${prefix}${GROUP}/validatingadmissionpolicybindings`
  const post = (path: string, body: object) => world.ask({ method: 'POST', path, as, type, body: JSON.stringify(body) })
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }]
  const validations = expressions.map(expression => ({
    expression,
    ...(message !== null && { messageExpression: message }),
  }))
  const spec = { matchConstraints: { resourceRules }, validations }
  await post(policies, { apiVersion: API, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'p' }, spec })
  await post(bindings, {
    apiVersion: API,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'p' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  })
  const data = { b: letter.repeat(bytes / letter.length) }
  const maps = `${prefix}/api/v1/namespaces/default/configmaps`
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data }
  const asked = dryRun ? '?dryRun=All' : ''
  await Promise.all([post(maps + asked, map), post(maps + asked, map), post(maps + asked, map)])
  for (const path of [`${bindings}/p`, `${policies}/p`, `${maps}/m`]) await world.ask({ method: 'DELETE', path, as })
}

export const celWork: Target = {
  name: 'celWork',
  runs: 30,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
