/** Expressions of a tenant that ask for more work, or for larger values, than their length says. */
import { type Attack, attack } from '../attack.ts'
import { crowd, type Ground } from '../ground.ts'
import { defineThings, thing, thingsOf } from './things.ts'

const POLICIES = '/apis/admissionregistration.k8s.io/v1'
const CONFIG_MAPS = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }]
const TEXT = 900_000
const DRY = '?dryRun=All'

/** A policy over ConfigMaps, made and bound; failures are ignored, so that it only costs. */
async function policy({ alice, space }: Ground, expressions: readonly string[], name = 'greedy'): Promise<void> {
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: CONFIG_MAPS },
    validations: expressions.map(expression => ({ expression })),
  }
  await alice.must({
    path: `${space.prefix}${POLICIES}/validatingadmissionpolicies`,
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec,
    },
  })
  await alice.must({
    path: `${space.prefix}${POLICIES}/validatingadmissionpolicybindings`,
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  })
}

function map(bytes: number, letter = 'x'): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'm-' }, data: { b: letter.repeat(bytes) } }
}

/** Policies of one expression each, met by large ConfigMaps. */
function policyAttack(name: string, does: string, expression: string, hears: readonly number[] = [422]): Attack {
  return attack(name, {
    does,
    hears,
    prepare: ground => policy(ground, [expression]),
    run: async ({ alice, space, size }) =>
      await crowd(size(40, 1), size(8, 1), () => alice.send({ path: space.maps + DRY, body: map(TEXT) })),
  })
}

const SIXTY = `[${Array.from({ length: 60 }, (_, i) => i).join(',')}]`

export const cel: readonly Attack[] = [
  policyAttack(
    'cel-doubled-list',
    'a list of a large text is doubled eight times, then each replaced',
    "[object.data.b].map(a,a+a).map(a,a+a).map(a,a+a).map(a,a+a).map(a,a+a).map(a,a+a).map(a,a+a).map(a,a+a).all(a,a.replace('z','y').size()>0)",
  ),
  policyAttack(
    'cel-contains',
    '60 x 60 contains on 900 KB',
    `${SIXTY}.all(a, ${SIXTY}.all(b, !object.data.b.contains('y' + string(a) + string(b))))`,
  ),
  policyAttack(
    'cel-last-index-of',
    'lastIndexOf of a text that nearly fits everywhere',
    "object.data.b.lastIndexOf(object.data.b.substring(0, 400000) + 'y') < 0",
  ),
  policyAttack(
    'cel-patterns',
    'patterns with large repetitions on 900 KB',
    `${SIXTY}.all(a, !object.data.b.matches('(x{1,200}y{1,200}){1,10}' + string(a) + '$'))`,
  ),
  policyAttack(
    'cel-split-join',
    'a large text is split into letters and joined again and again',
    `${SIXTY}.all(a, object.data.b.split('').join(string(a)).size() > 0)`,
  ),
  policyAttack(
    'cel-equal-lists',
    'large lists are compared with one another',
    `${SIXTY}.all(a, ${SIXTY}.all(b, object.data.b.split('') == object.data.b.split('')))`,
  ),
  attack('cel-many-policies', {
    does: '60 policies with dear expressions concern each write',
    hears: [422],
    prepare: async ground => {
      const dear = `${SIXTY}.all(a, ${SIXTY}.all(b, a + b >= 0))`
      await crowd(ground.size(60, 2), 8, i => policy(ground, [dear, dear, dear, dear], `greedy-${i}`))
      await policy(ground, ["object.data.b == ''"], 'last')
    },
    run: async ({ alice, space, size }) =>
      await crowd(size(40, 1), size(8, 1), () => alice.send({ path: space.maps + DRY, body: map(1000) })),
  }),
  attack('cel-crd-rules', {
    does: '20 POSTs at a time of an object with 40 rules at the allowed price',
    prepare: async ground => {
      const rule = { rule: 'self.a.all(x, self.a.all(y, x == y || x != y))' }
      await defineThings(ground, {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: Object.fromEntries(
              Array.from({ length: ground.size(40, 20) }, (_, i) => [
                `p${i}`,
                {
                  type: 'object',
                  properties: { a: { type: 'array', maxItems: 300, items: { type: 'integer' } } },
                  'x-kubernetes-validations': [rule],
                },
              ]),
            ),
          },
        },
      })
    },
    run: async ({ alice, space, size }) => {
      const a = Array.from({ length: 300 }, (_, i) => i)
      const spec = Object.fromEntries(Array.from({ length: size(40, 20) }, (_, i) => [`p${i}`, { a }]))
      await crowd(size(60, 1), size(20, 1), () => alice.send({ path: thingsOf(space.prefix), body: thing({ spec }) }))
    },
    hears: [422],
  }),
]
