/** Kinds that are answered instead of stored: token and access reviews, and TokenRequest. */

import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import { admitUnstored } from '../admission/unstored.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import { checkReviewSize } from '../auth/reviewLimits.ts'
import {
  localSubjectAccessReview,
  reviewToken,
  selfSubjectAccessReview,
  selfSubjectReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from '../auth/reviews.ts'
import type { ObjectReader } from '../auth/serviceAccountAuthenticator.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import { DEFAULT_SECONDS, tokenRequest } from '../auth/tokenRequest.ts'
import type { Authenticator } from '../auth/types.ts'
import type { SyncerTokens } from '../authority/syncerTokens.ts'
import { sendValue } from '../exchange/answers/respond.ts'
import { readBody } from '../exchange/bodies/body.ts'
import { checkTypes } from '../exchange/bodies/checkTypes.ts'
import { requireKind } from '../exchange/bodies/otherKinds.ts'
import {
  type EndpointEntries,
  type EndpointEntry,
  type Exchange,
  type Services,
  writeContext,
} from '../exchange/exchange.ts'
import { objectOf } from '../operations/objectOf.ts'
import { decodeObject } from '../registry/codec.ts'

interface ReviewDeps {
  authenticator: Authenticator
  authorizer: RbacAuthorizer
  issuer: TokenIssuer
  nature: Pick<Nature, 'acts'>
  getObject: ObjectReader
  /** The longest life of a token on request. Default: a year. */
  maxTokenSeconds: number | undefined
  /** Has the first say about tokens. Absent where there are no spaces. */
  syncerTokens?: Pick<SyncerTokens, 'answer'> | undefined
  clock: () => Date
}

type Answer = (body: KubeObject, exchange: Exchange) => KubeObject | Promise<KubeObject>

export function reviewEndpoints(deps: ReviewDeps): EndpointEntries {
  const { authenticator, authorizer, issuer } = deps
  const answer = (make: Answer): EndpointEntry => ({
    verbs: ['create'],
    async endpoint(services, exchange) {
      const sent = readBody(services, exchange)
      requireKind(services, exchange, sent)
      const body = objectOf(sent, exchange.type)
      checkReviewSize(body, exchange.type)
      // The answer repeats the question, so it has to be of its kind.
      checkTypes(body, exchange.type)
      await admitUnstored(services.deps.admission, body, {
        context: writeContext(exchange),
        type: exchange.type,
        subresource: '',
        namespace: exchange.resource.namespace,
        name: '',
        settle: changed => checkTypes(changed, exchange.type),
      })
      await sendValue(services, exchange, 201, await make(body, exchange))
    },
  })
  const context = (exchange: Exchange) => ({ space: exchange.space, user: exchange.user, authorizer })
  return {
    'authentication.k8s.io/tokenreviews': answer((body, exchange) =>
      reviewToken(body, { space: exchange.space, authenticator, audiences: issuer.audiences }),
    ),
    'authentication.k8s.io/selfsubjectreviews': answer((body, exchange) => selfSubjectReview(body, context(exchange))),
    'authorization.k8s.io/selfsubjectaccessreviews': answer((body, exchange) =>
      selfSubjectAccessReview(body, context(exchange)),
    ),
    'authorization.k8s.io/selfsubjectrulesreviews': answer((body, exchange) =>
      selfSubjectRulesReview(body, context(exchange)),
    ),
    'authorization.k8s.io/subjectaccessreviews': answer((body, exchange) =>
      subjectAccessReview(body, context(exchange)),
    ),
    'authorization.k8s.io/localsubjectaccessreviews': answer((body, exchange) =>
      localSubjectAccessReview(body, { ...context(exchange), namespace: exchange.resource.namespace }),
    ),
    '/serviceaccounts/token': {
      verbs: ['create'],
      isOwnKind: true,
      endpoint: (services, exchange) => tokenEndpoint(services, exchange, deps),
    },
  }
}

const TOKEN_REQUEST = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }
const TEXT: Schema = { type: 'string' }
const TOKEN_REQUEST_TYPE = {
  kind: 'TokenRequest',
  version: 'v1',
  schema: {
    type: 'object',
    properties: {
      apiVersion: TEXT,
      kind: TEXT,
      metadata: objectMetaSchema,
      spec: {
        type: 'object',
        properties: {
          audiences: { type: 'array', items: TEXT },
          boundObjectRef: { type: 'object', properties: { apiVersion: TEXT, kind: TEXT, name: TEXT, uid: TEXT } },
          expirationSeconds: { type: 'integer', format: 'int64' },
        },
      },
      status: { type: 'object', properties: { token: TEXT, expirationTimestamp: TEXT } },
    },
  },
} satisfies Pick<ResourceType, 'kind' | 'version' | 'schema'>

async function tokenEndpoint(services: Services, exchange: Exchange, deps: ReviewDeps): Promise<void> {
  const { namespace, name } = exchange.resource
  const sent = readBody(services, exchange, TOKEN_REQUEST)
  const body = objectOf(
    isRecord(sent) && sent.kind === undefined && sent.apiVersion === undefined ? { ...TOKEN_REQUEST, ...sent } : sent,
    exchange.type satisfies ResourceType,
    TOKEN_REQUEST,
  )
  checkReviewSize(body, { group: 'authentication.k8s.io', kind: 'TokenRequest' })
  checkTypes(body, TOKEN_REQUEST_TYPE)
  const spec = isRecord(body.spec) ? body.spec : {}
  // policies limit the duration, explicit or by default
  body.spec = { ...spec, expirationSeconds: spec.expirationSeconds ?? DEFAULT_SECONDS }
  const write = writeContext(exchange)
  await admitUnstored(services.deps.admission, body, {
    context: write,
    type: exchange.type,
    subresource: 'token',
    namespace,
    name,
    kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
    settle: changed => checkTypes(changed, TOKEN_REQUEST_TYPE),
  })
  const account = decodeObject(await services.reader.get(exchange.space, exchange.type, namespace, name))
  const { space, user, dryRun } = write
  const special = await deps.syncerTokens?.answer({ space, user, dryRun, account, body })
  if (special !== undefined) return await sendValue(services, exchange, 201, special)
  const context = {
    space: exchange.space,
    issuer: deps.issuer,
    nature: deps.nature,
    getObject: deps.getObject,
    maxExpirationSeconds: deps.maxTokenSeconds,
    clock: () => deps.clock().getTime(),
  }
  await sendValue(services, exchange, 201, await tokenRequest(account, body, context))
}
