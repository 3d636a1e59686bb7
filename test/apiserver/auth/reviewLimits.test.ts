/** Reviews and TokenRequests of many groups, audiences or extra values are refused by the name of the field, before all else. */
import t from 'tap'
import {
  AUDIENCE_LENGTH,
  AUDIENCES,
  checkReviewSize,
  REVIEW_ITEMS,
  TOKEN_LENGTH,
} from '../../../src/apiserver/auth/reviewLimits.ts'
import { startTestServer } from '../../support/server.ts'

const ACCESS = { group: 'authorization.k8s.io', kind: 'SubjectAccessReview' }
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `n${i}`)
const message = (spec: object, metadata: object = {}): string => {
  try {
    checkReviewSize({ apiVersion: 'v1', kind: 'X', metadata, spec }, ACCESS)
    return ''
  } catch (error) {
    return (error as Error).message.replace('.authorization.k8s.io "" is invalid: ', '')
  }
}

t.test('as much as it may be', async t => {
  t.equal(message({ groups: many(REVIEW_ITEMS), audiences: many(AUDIENCES), token: 'x'.repeat(TOKEN_LENGTH) }), '')
  t.equal(
    message({ extra: { k: many(REVIEW_ITEMS - 1) }, groups: 'no list', audiences: ['x'.repeat(AUDIENCE_LENGTH)] }),
    '',
  )
})

t.test('more is refused by name', async t => {
  const tooMany = (count: number, limit: number) => `Too many: ${count}: must have at most ${limit} items`
  t.equal(message({ groups: many(REVIEW_ITEMS + 1) }), `spec.groups: ${tooMany(10_001, 10_000)}`)
  t.equal(message({ extra: { k: many(9000), l: many(999) } }), `spec.extra: ${tooMany(10_001, 10_000)}`)
  const requirements = [{ key: 'a', operator: 'In', values: many(REVIEW_ITEMS) }]
  t.equal(
    message({ resourceAttributes: { labelSelector: { requirements } } }),
    `spec.resourceAttributes.labelSelector.requirements: ${tooMany(10_001, 10_000)}`,
  )
  t.equal(message({ audiences: many(101) }), `spec.audiences: ${tooMany(101, 100)}`)
  t.equal(
    message({ audiences: ['a', 'x'.repeat(1025)] }),
    'spec.audiences[1]: Too long: may not be more than 1024 bytes',
  )
  t.equal(message({ token: '.'.repeat(65_537) }), 'spec.token: Too long: may not be more than 65536 bytes')
  t.equal(message({}, { labels: Object.fromEntries(many(1001).entries()) }), 'metadata: Invalid value: must be empty')
})

t.test('at each endpoint', async t => {
  const { api } = await startTestServer(t)
  const refused = (field: string) => ({
    code: 422,
    body: { reason: 'Invalid', details: { causes: [{ field, reason: 'FieldValueTooMany' }] } },
  })
  const resourceAttributes = { verb: 'get', resource: 'pods' }
  const review = (group: string, kind: string, spec: object) => ({ apiVersion: `${group}/v1`, kind, spec })
  const access = (kind: string, spec: object) => review('authorization.k8s.io', kind, { resourceAttributes, ...spec })
  const at = '/apis/authorization.k8s.io/v1'
  const groups = many(REVIEW_ITEMS + 1)
  t.match(
    await api.post(`${at}/subjectaccessreviews`, access('SubjectAccessReview', { groups })),
    refused('spec.groups'),
  )
  t.match(
    await api.post(
      `${at}/namespaces/default/localsubjectaccessreviews`,
      access('LocalSubjectAccessReview', { groups }),
    ),
    refused('spec.groups'),
  )
  const fieldSelector = { requirements: many(REVIEW_ITEMS + 1).map(key => ({ key, operator: 'Exists' })) }
  t.match(
    await api.post(
      `${at}/selfsubjectaccessreviews`,
      access('SelfSubjectAccessReview', { resourceAttributes: { ...resourceAttributes, fieldSelector } }),
    ),
    refused('spec.resourceAttributes.fieldSelector.requirements'),
  )
  const audiences = many(AUDIENCES + 1)
  const tokens = review('authentication.k8s.io', 'TokenReview', { token: 't', audiences })
  t.match(await api.post('/apis/authentication.k8s.io/v1/tokenreviews', tokens), refused('spec.audiences'))
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await api.ok(api.post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }))
  t.match(await api.post(`${accounts}/a/token`, { spec: { audiences } }), refused('spec.audiences'))
})
