import t from 'tap'
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import * as reviews from '../../../src/apiserver/auth/reviews.ts'
import type { Attributes, Authentication } from '../../../src/apiserver/auth/types.ts'

const body = (kind: string, spec: object, metadata: object = { creationTimestamp: null }): KubeObject => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind,
  metadata,
  spec,
})
const user = { name: 'ann', uid: '1', groups: ['dev'], extra: { k: ['v'] } }

function authorizer(reason = '') {
  const asked: Attributes[] = []
  return {
    asked,
    authorize: async (attributes: Attributes) => {
      asked.push(attributes)
      return { allowed: attributes.verb === 'get', reason }
    },
  }
}
const resourceAttributes = { verb: 'get', group: 'apps', resource: 'deployments', namespace: 'ns', name: 'x' }

t.test('SelfSubjectAccessReview asks for the caller', async t => {
  const authz = authorizer('because')
  const context = { space: 's1', user, authorizer: authz }
  const answer = await reviews.selfSubjectAccessReview(body('SelfSubjectAccessReview', { resourceAttributes }), context)
  t.same(answer.status, { allowed: true, reason: 'because' })
  t.same(answer.spec, { resourceAttributes })
  t.match(authz.asked[0], { user, space: 's1', verb: 'get', resource: { ...resourceAttributes, verb: undefined } })
  const nonResourceAttributes = { path: '/x', verb: 'post' }
  const path = await reviews.selfSubjectAccessReview(body('X', { nonResourceAttributes }), {
    ...context,
    authorizer: authorizer(),
  })
  t.same(path.status, { allowed: false })
})

t.test('SubjectAccessReview asks for somebody else', async t => {
  const authz = authorizer()
  const spec = { resourceAttributes, user: 'eve', groups: ['g'], uid: '7', extra: { 'Example.com/A': ['b'] } }
  await reviews.subjectAccessReview(body('SubjectAccessReview', spec), { space: 's1', authorizer: authz })
  t.same(authz.asked[0]?.user, { name: 'eve', uid: '7', groups: ['g'], extra: { 'example.com/a': ['b'] } })
})

t.test('mistakes are named as upstream names them', async t => {
  const context = { space: 's1', user, authorizer: authorizer() }
  const message = async (asked: Promise<unknown>) => {
    const error = await asked.catch((e: unknown) => e)
    return error instanceof StatusError ? `${error.code} ${error.message}` : error
  }
  t.equal(
    await message(reviews.selfSubjectAccessReview(body('X', {}), context)),
    '422 .authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: ' +
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
  )
  t.match(
    await message(
      reviews.selfSubjectAccessReview(
        body('X', { resourceAttributes, nonResourceAttributes: {} }, { name: 'x' }),
        context,
      ),
    ),
    /\[spec.nonResourceAttributes: .*: cannot be specified in combination with resourceAttributes, metadata: .*: must be empty\]/,
  )
  t.equal(
    await message(reviews.subjectAccessReview(body('X', { resourceAttributes }), context)),
    '422 .authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
  )
  const local = (spec: object) =>
    message(reviews.localSubjectAccessReview(body('X', { user: 'u', ...spec }), { ...context, namespace: 'other' }))
  t.match(
    await local({ resourceAttributes }),
    /spec.resourceAttributes.namespace: Invalid value: "ns": must match metadata.namespace/,
  )
  t.match(await local({ nonResourceAttributes: { path: '/' } }), /disallowed on this kind of request/)
  t.equal(
    await message(
      reviews.selfSubjectRulesReview(body('X', {}), {
        ...context,
        authorizer: { rulesFor: async () => ({ rules: [], errors: [] }) },
      }),
    ),
    '400 no namespace on request',
  )
})

t.test('LocalSubjectAccessReview in its namespace', async t => {
  const context = { space: 's1', namespace: 'ns', authorizer: authorizer() }
  const review = body('LocalSubjectAccessReview', { user: 'u', resourceAttributes }, { namespace: 'ns' })
  t.same((await reviews.localSubjectAccessReview(review, context)).status, { allowed: true })
})

t.test('SelfSubjectRulesReview', async t => {
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['x'] },
    { verbs: ['get'], nonResourceURLs: ['/x'] },
  ]
  const rulesFor = async () => ({ rules, errors: ['a', 'b'] })
  const review = body('SelfSubjectRulesReview', { namespace: 'ns' })
  const answer = await reviews.selfSubjectRulesReview(review, { space: 's1', user, authorizer: { rulesFor } })
  t.same(answer.status, {
    resourceRules: [rules[0]],
    nonResourceRules: [rules[1]],
    incomplete: false,
    evaluationError: '[a, b]',
  })
})

t.test('SelfSubjectRulesReview of more than is told', async t => {
  const resources = Array.from({ length: 1000 }, (_, i) => `r${i}`)
  const rules = Array.from({ length: 100 }, () => ({ verbs: ['get'], apiGroups: [''], resources }))
  const rulesFor = async () => ({ rules, errors: ['a'] })
  const review = body('SelfSubjectRulesReview', { namespace: 'ns' })
  const { status } = await reviews.selfSubjectRulesReview(review, { space: 's1', user, authorizer: { rulesFor } })
  t.match(status, { incomplete: true, evaluationError: '[a, 51 further rules are left out]' })
  t.equal((status as { resourceRules: unknown[] }).resourceRules.length, 49)
})

t.test('SelfSubjectReview, for kubectl auth whoami', async t => {
  const answer = reviews.selfSubjectReview(body('SelfSubjectReview', {}), { user })
  t.same(answer.status, { userInfo: { username: 'ann', uid: '1', groups: ['dev'], extra: { k: ['v'] } } })
})

t.test('TokenReview', async t => {
  const tokens: Record<string, Authentication> = {
    good: { user },
    local: { user, space: 's1', audiences: ['x'] },
    foreign: { user, space: 's2' },
  }
  const authenticator = {
    authenticate: async ({ token = '' }) => {
      if (token === 'expired')
        throw new StatusError('Unauthorized', 'Unauthorized', undefined, { cause: new Error('too old') })
      if (token === 'broken') throw new Error('disk')
      if (tokens[token] === undefined) throw statusError.unauthorized()
      return tokens[token]
    },
  }
  const review = (token: string) =>
    reviews.reviewToken(body('TokenReview', { token }), { space: 's1', authenticator, audiences: ['api'] })
  const status = async (token: string) => (await review(token)).status
  const userInfo = { username: 'ann', uid: '1', groups: ['dev'], extra: { k: ['v'] } }
  t.same(await status('good'), { authenticated: true, user: userInfo, audiences: ['api'] })
  t.same(await status('local'), { authenticated: true, user: userInfo, audiences: ['x'] })
  t.same(await status('bad'), { user: {}, error: 'invalid bearer token' })
  t.same(await status('expired'), { user: {}, error: '[invalid bearer token, too old]' })
  t.same(await status('foreign'), { user: {}, error: '[invalid bearer token, the token belongs to another space]' })
  await t.rejects(review(''), { message: 'token is required for TokenReview in authentication' })
  await t.rejects(review('broken'), { message: 'disk' }, 'a failure is not a verdict')
})

t.test('selectors of a list or watch are taken, and must be well formed', async t => {
  const context = { space: 's1', user, authorizer: authorizer() }
  const asked = (selector: object) => ({
    resourceAttributes: { verb: 'get', resource: 'pods', fieldSelector: selector },
  })
  const good = asked({ requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] })
  const answer = await reviews.selfSubjectAccessReview(body('SelfSubjectAccessReview', good), context)
  t.same(answer.status, { allowed: true })
  t.same(answer.spec, good)
  const path = 'spec.resourceAttributes.fieldSelector'
  for (const [selector, why] of [
    [{}, `${path}.requirements: Required value: when ${path} is specified, requirements or rawSelector is required`],
    [
      { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] },
      `${path}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
    ],
    [{ requirements: [{ operator: 'Exists' }] }, `${path}.requirements[0].key: Required value: must be specified`],
    [
      { requirements: [{ key: 'a', operator: 'In' }] },
      `${path}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    ],
    [
      { requirements: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
      `${path}.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ],
  ] as [object, string][]) {
    const review = reviews.selfSubjectAccessReview(body('SelfSubjectAccessReview', asked(selector)), context)
    const error = await review.then(
      () => undefined,
      (failure: StatusError) => failure.message,
    )
    t.ok(error?.includes(why), `${error} says ${why}`)
  }
})
