/** Limits of this room for docs/reference/limits.md, which `npm run pages` writes. */

import * as jsonInSteps from '../apimachinery/jsonInSteps.ts'
import * as jsonPath from '../apimachinery/jsonPath.ts'
import { binary, bytes, count, duration, type Limits } from '../apimachinery/limits.ts'
import * as objectSize from '../apimachinery/objectSize.ts'
import * as effort from '../apimachinery/structural/effort.ts'
import * as statusLimit from '../placement/outcome/statusLimit.ts'
import * as loopShare from '../program/loopShare.ts'
import * as threadPool from '../program/threadPool.ts'
import * as celAuthorizer from './admission/celAuthorizer.ts'
import * as expressionRunner from './admission/expressionRunner.ts'
import * as fromCel from './admission/fromCel.ts'
import * as limitRanger from './admission/limitRanger.ts'
import * as mutatingPolicies from './admission/mutatingPolicies.ts'
import * as noticePosts from './admission/noticePosts.ts'
import * as podSecurity from './admission/podSecurity/podSecurity.ts'
import * as policyVerdict from './admission/policyVerdict.ts'
import * as settingsLimit from './admission/settingsLimit.ts'
import * as webhookCalls from './admission/webhookCalls.ts'
import * as webhookClient from './admission/webhookClient.ts'
import * as webhooks from './admission/webhooks.ts'
import * as webhookTrust from './admission/webhookTrust.ts'
import * as workspaces from './admission/workspaces.ts'
import * as assembly from './assembly.ts'
import * as aggregation from './auth/aggregation.ts'
import * as certificateSigner from './auth/certificateSigner.ts'
import * as escalation from './auth/escalation.ts'
import * as fetchJson from './auth/fetchJson.ts'
import * as issuerKeys from './auth/issuerKeys.ts'
import * as rbacReader from './auth/rbacReader.ts'
import * as reviewLimits from './auth/reviewLimits.ts'
import * as reviews from './auth/reviews.ts'
import * as tokenRequest from './auth/tokenRequest.ts'
import * as union from './auth/union.ts'
import * as bindingAdmission from './authority/bindingAdmission.ts'
import * as placementAdmission from './authority/placementAdmission.ts'
import * as reportLimit from './authority/reportLimit.ts'
import * as sinkAdmission from './authority/sinkAdmission.ts'
import * as backupPath from './backup/backupPath.ts'
import * as strangerLimits from './connections/strangerLimits.ts'
import * as servedDefinitions from './definitions/servedDefinitions.ts'
import * as spaceStream from './endpoints/spaceStream.ts'
import * as watch from './endpoints/watch.ts'
import * as webSockets from './endpoints/webSockets.ts'
import * as compression from './exchange/answers/compression.ts'
import * as listAnswers from './exchange/answers/listAnswers.ts'
import * as streamWriter from './exchange/answers/streamWriter.ts'
import * as warningHeaders from './exchange/answers/warningHeaders.ts'
import * as webSocketSink from './exchange/answers/webSocketSink.ts'
import * as bigYaml from './exchange/bodies/bigYaml.ts'
import * as longBodies from './exchange/bodies/longBodies.ts'
import * as yamlBody from './exchange/bodies/yamlBody.ts'
import * as flowControl from './flowcontrol/flowControl.ts'
import * as heldRequests from './flowcontrol/heldRequests.ts'
import * as inFlight from './flowcontrol/inFlight.ts'
import * as runningRequests from './flowcontrol/runningRequests.ts'
import * as watchBudget from './flowcontrol/watchBudget.ts'
import * as httpServer from './http/httpServer.ts'
import * as negotiate from './http/negotiate.ts'
import * as requestBody from './http/requestBody.ts'
import * as requestLines from './http/requestLines.ts'
import * as answeredLog from './registry/answeredLog.ts'
import * as answeredReader from './registry/answeredReader.ts'
import * as convertedViews from './registry/convertedViews.ts'
import * as firstErrors from './registry/firstErrors.ts'
import * as largeWrites from './registry/largeWrites.ts'
import * as longChecks from './registry/longChecks.ts'
import * as provenance from './registry/provenance.ts'
import * as selection from './registry/selection.ts'
import * as views from './registry/views.ts'
import * as diskRoom from './shortage/diskRoom.ts'
import * as memoryRoom from './shortage/memoryRoom.ts'
import * as serverLimits from './spaces/serverLimits.ts'
import * as table from './tables/table.ts'

export const LIMITS: Limits = {
  requests: {
    'body of a request': [
      bytes(requestBody.BODY_LIMIT_BYTES),
      '`413 RequestEntityTooLarge`',
      'fixed; split the object',
    ],
    'request by which a syncer reports a status; the status': [
      `${bytes(reportLimit.REPORT_LIMIT_BYTES)}; ${bytes(statusLimit.STATUS_LIMIT_BYTES)}`,
      '`413 RequestEntityTooLarge`; `422 Invalid`. A syncer leaves a longer status in the cluster: [`StatusTooLarge`](states.md#reasons)',
      'fixed',
    ],
    'fields and elements of what is written at once; bytes of that, or of what is there': [
      `${count(largeWrites.LARGE_VALUES)}; ${bytes(largeWrites.LARGE_BYTES)}`,
      'it is written in steps, those of all spaces in turn, and one writer of an object after the other',
      'fixed; nothing is refused',
    ],
    'JSON that is parsed in pieces, those of all spaces in turn': [
      `from ${bytes(longBodies.STEPS_BYTES)} on, ${bytes(jsonInSteps.PIECE)} each`,
      'nothing is refused',
      'fixed',
    ],
    'entries of an `Accept` header; parameters of each': [
      `${count(negotiate.ENTRIES_LIMIT)}; ${count(negotiate.PARAMETERS_LIMIT)}`,
      'those behind are not read',
      'fixed',
    ],
    'URL and headers together': [bytes(httpServer.HEADERS_LIMIT_BYTES), '`431`, and the connection ends', 'fixed'],
    'YAML that is read by a thread of its own': [
      `from ${bytes(bigYaml.BIG_BYTES)} on, or with aliases`,
      'no effect',
      'send JSON',
    ],
    'YAML of one space that waits for a thread': [
      `${count(threadPool.LINE)} documents`,
      '`429 TooManyRequests`',
      'fixed; JSON has no such limit',
    ],
    'processor time of a YAML body in its thread; memory': [
      `${duration(bigYaml.LIMIT_MS)} of the processor, ${assembly.THREAD_LIMITS.maxOldGenerationSizeMb} MiB`,
      '`400 BadRequest`',
      'fixed; JSON has no such limit',
    ],
    'aliases of a YAML body': [count(yamlBody.ALIAS_LIMIT), '`400 BadRequest`', 'fixed; JSON has no such limit'],
    'time for the TLS handshake; the headers; the body': [
      `${duration(httpServer.HANDSHAKE_TIMEOUT_MS)}; ${duration(httpServer.HEADERS_TIMEOUT_MS)}; ${duration(httpServer.REQUEST_TIMEOUT_MS)}`,
      'the connection ends; `408`',
      'fixed',
    ],
    'requests of a connection without an answer': [
      `${count(requestLines.OPEN_REQUESTS)}; one more ends the connection`,
      'the connection ends',
      'send the next behind the answer',
    ],
    'bytes that are read behind a request without an answer': [
      bytes(requestLines.READ_AHEAD_BYTES),
      'the rest waits at the client',
      'fixed',
    ],
    'time in which a client takes an answer': [
      `${duration(httpServer.ANSWER_TIMEOUT_MS)}, not for watches`,
      'the answer is broken off',
      'fixed; ask for pages (`limit`)',
    ],
    'requests at a time': [
      `${count(inFlight.DEFAULT_IN_FLIGHT.reading)} reading and ${count(inFlight.DEFAULT_IN_FLIGHT.mutating)} changing, together, divided among priority levels`,
      'they wait',
      '`--max-requests-inflight`, `--max-mutating-requests-inflight`, PriorityLevelConfigurations of `root`',
    ],
    'wait of a request for its turn': [
      `${duration(flowControl.WAIT_LIMIT_MS)}, or a quarter of \`?timeout=\``,
      '`429 TooManyRequests` with `Retry-After`: 1 s, up to 32 s when many are refused. `system:masters` always gets in',
      'the limit of requests at a time, or a PriorityLevelConfiguration of `root`',
    ],
    'requests of a space that wait for a webhook or for a slow client': [
      `${count(heldRequests.DEFAULT_HELD.space.requests)}, ${bytes(heldRequests.DEFAULT_HELD.space.bytes)}; half of that for a user in it`,
      '`429`, or the slow answer is broken off',
      'fixed',
    ],
    'such requests of a space with all spaces below it': [
      `${count(heldRequests.SUBTREE * heldRequests.DEFAULT_HELD.server.requests)}, ${bytes(heldRequests.SUBTREE * heldRequests.DEFAULT_HELD.server.bytes)}`,
      '`429`, or the slow answer is broken off',
      'fixed',
    ],
    'such requests of the whole server': [
      `${count(heldRequests.DEFAULT_HELD.server.requests)}, ${bytes(heldRequests.DEFAULT_HELD.server.bytes)}; a 64th of it is kept for each tenant that holds less`,
      '`429`, or the slow answer is broken off',
      'fixed',
    ],
    'watches and space streams': [count(inFlight.DEFAULT_IN_FLIGHT.watching), '`429 TooManyRequests`', 'fixed'],
    "watches and streams of one space or user; of all syncers; of one mailbox's syncer": [
      `a quarter (${count(watchBudget.SHARE * inFlight.DEFAULT_IN_FLIGHT.watching)}); a quarter (${count(watchBudget.FOR_SYNCERS * inFlight.DEFAULT_IN_FLIGHT.watching)}); ${count(watchBudget.SYNCER_SHARE * inFlight.DEFAULT_IN_FLIGHT.watching)}`,
      '`429 TooManyRequests`',
      'fixed; watch several kinds by one space stream',
    ],
    'watches and streams of a space with all below it; of each space among these': [
      `a quarter; half of its parent's, at least ${count(watchBudget.LEAST_SHARE * inFlight.DEFAULT_IN_FLIGHT.watching)}`,
      '`429 TooManyRequests`',
      'fixed; watch several kinds by one space stream',
    ],
    "requirements and values of a request's selectors": [
      count(selection.MAX_PARTS),
      '`400 BadRequest`',
      'fixed; ask several times',
    ],
    'requirements and values of a selector that count as one more watch': [
      count(watchBudget.SELECTOR_PARTS),
      'the share of watches is used up sooner',
      'fixed',
    ],
    'what watches have in hand that nobody reads: of a user in a space; of a space; with all below it; of the server': [
      `${bytes(runningRequests.UNREAD.userBytes!)}, some 170 watches; ${bytes(runningRequests.UNREAD.space.bytes)}; ${bytes(heldRequests.SUBTREE * runningRequests.UNREAD.server.bytes)}; ${bytes(runningRequests.UNREAD.server.bytes)}`,
      'those are broken off that were not read for longest',
      'fixed',
    ],
    'frames on their way to one watch; over WebSocket': [
      `${bytes(streamWriter.WAITING_LIMIT_BYTES)}; ${bytes(webSocketSink.WAITING_LIMIT_BYTES)}; and one frame`,
      'the watch waits for its client',
      'fixed',
    ],
    'a watch without `timeoutSeconds`; a space stream': [
      `${count(watch.DEFAULT_TIMEOUT_SECONDS)} to ${duration(2 * spaceStream.LIFETIME_MS)}`,
      'it ends; clients resume it',
      '`timeoutSeconds` of the request',
    ],
    '`timeoutSeconds` of a watch': [`${count(watch.LONGEST_TIMEOUT_SECONDS)} s`, 'longer ones count as that', 'fixed'],
    'backups at a time; least pace of its client': [
      `1; ${bytes(backupPath.LEAST_PACE.bytes)} in ${duration(backupPath.LEAST_PACE.ms)}`,
      'another is refused (`409`); it is given up',
      'fixed',
    ],
    'bookmarks of watches that want them; of space streams': [
      `every ${duration(watch.BOOKMARK_INTERVAL_MS)}; every ${duration(spaceStream.BOOKMARK_INTERVAL_MS)}`,
      '',
      'fixed',
    ],
    'pings over WebSocket; messages of clients': [
      `every ${duration(webSockets.PING_INTERVAL_MS)}, to be answered; ${bytes(webSockets.MESSAGE_LIMIT_BYTES)}`,
      'the connection ends',
      'fixed',
    ],
    'lists that are indented (`pretty`)': [
      bytes(listAnswers.PRETTY_LIMIT_BYTES),
      'longer ones are not',
      'ask for pages (`limit`)',
    ],
    'answers that are compressed at a time; that wait for it': [
      `blocks of ${bytes(compression.BLOCK_BYTES)} of ${count(compression.SEATS)}; ${count(compression.CROWD)} answers, or ${bytes(compression.CROWD_BYTES)}`,
      'further ones leave uncompressed',
      '`UV_THREADPOOL_SIZE` of more than 4',
    ],
    'warnings in one answer; each, once they are more': [
      `${count(warningHeaders.LIMIT)} characters; ${count(warningHeaders.CUT)}`,
      'they are cut, then left out',
      'fixed',
    ],
    'end of the server': [`${duration(httpServer.DRAIN_MS)} for running requests`, 'they are broken off', 'fixed'],
  },
  objects: {
    'errors of a large object; their characters': [
      `${count(firstErrors.MAX_ERRORS)}; ${bytes(firstErrors.MAX_CHARACTERS)}`,
      'the last one says `there are too many errors to tell`',
      'fixed',
    ],
    "an object's list of fields that no author set": [
      bytes(provenance.MAX_NOTE),
      'all of it counts as set, and travels',
      'fixed',
    ],
    'rules of LimitRanges times containers': [count(limitRanger.MOST_WORK), '`403 Forbidden`', 'fewer LimitRanges'],
    'Pods that a stricter Pod Security label of their Namespace is compared with': [
      `${count(podSecurity.MAX_PODS)}, as in Kubernetes`,
      'the warning says how many were looked at',
      'fixed',
    ],
    'spaces below one another, `root` aside': [
      count(workspaces.MOST_LEVELS),
      '`403 Forbidden`. Those of an earlier release stay, and get no further ones below',
      'fixed; make them side by side',
    ],
    'objects; spaces of a server': [
      `one for each ${bytes(serverLimits.HEAP_PER_OBJECT)} of the heap's limit; for each ${bytes(serverLimits.HEAP_PER_SPACE)}`,
      '`403 Forbidden`: `the server holds as many … as it may`; [reported from 80 % on](../guard.md#budgets)',
      '`--max-objects`, `--max-spaces`, or more heap',
    ],
    'heap that lives; memory of the machine or container': [
      `${memoryRoom.HEAP_SHORT * 100} % of the heap's limit; ${memoryRoom.MACHINE_SHORT * 100} % of the memory`,
      '`507 InsufficientStorage` for what grows: [Short of memory or disk](../guard.md#short-of-memory-or-disk)',
      "Node.js' own limit of the heap: see there",
    ],
    'free disk': [
      `${diskRoom.DEFAULT_RESERVE_PART * 100} % of it, ${diskRoom.LEAST_RESERVE_BYTES / 2 ** 20} to ${bytes(diskRoom.MOST_RESERVE_BYTES)}`,
      '`507 InsufficientStorage` for what grows: [Short of memory or disk](../guard.md#short-of-memory-or-disk)',
      '`--disk-reserve-mib`',
    ],
  },
  expressions: {
    'webhook configurations, policies, bindings, or classes of one kind in a space; ResourceQuotas or LimitRanges in a Namespace; bytes of one kind in either':
      [
        `${count(settingsLimit.MAX_IN_SPACE)}; ${count(settingsLimit.MAX_IN_NAMESPACE)}; ${bytes(settingsLimit.MAX_BYTES)}`,
        '`403 Forbidden`. Those of an earlier release stay',
        'fixed; delete some',
      ],
    "cost of all rules of an object; of a policy's validations and messages, its audit annotations, each mutation, for a binding and parameter":
      [
        `${count(effort.MAX_RULE_UNITS)}; ${count(policyVerdict.MAX_POLICY_COST)}`,
        'the expression fails, also with `running out of cost budget`',
        'fixed; let it look at fewer or smaller values',
      ],
    'cost of the match conditions of a webhook or a policy': [
      count(policyVerdict.MAX_CONDITIONS_COST),
      'the webhook counts as failed',
      'fixed; let them look at fewer or smaller values',
    ],
    'cost of all policies and match conditions for one object, in each round of changes and in the validation': [
      count(expressionRunner.MAX_REQUEST_COST),
      'the policy counts as failed',
      'fewer policies',
    ],
    "value of a policy's expression, as JSON; what its mutations make of an object": [
      `${binary(fromCel.MAX_CHARACTERS)} characters; ${binary(mutatingPolicies.MAX_OBJECT_CHARACTERS)}`,
      'the policy counts as failed',
      'fixed',
    ],
    'what a `messageExpression` says; an audit annotation': [
      `${bytes(policyVerdict.MAX_MESSAGE_BYTES)}; ${bytes(policyVerdict.MAX_ANNOTATION_BYTES)}, as in Kubernetes`,
      'the `message` is used; it is cut',
      'fixed',
    ],
    'questions that the expressions of a policy ask the authorizer; characters of one': [
      `${count(celAuthorizer.MAX_QUESTIONS)}; ${binary(celAuthorizer.MAX_QUESTION_CHARACTERS)}`,
      'the expression fails',
      'fixed; ask less',
    ],
    "time of an expression on the loop; of a thread's processor, for an object; for a policy": [
      `${duration(loopShare.LEAST_MS)} to ${duration(loopShare.FULL_MS)}; ${duration(longChecks.LIMIT_MS)}; ${duration(expressionRunner.LIMIT_MS)}`,
      'The expression goes on in a thread, one for a space at a time; then it fails. With 16 waiting `429 TooManyRequests`',
      'fixed; let it look at fewer or smaller values',
    ],
    'built-in kinds that are judged by a thread': [
      `objects of more than ${count(largeWrites.LARGE_VALUES)} fields and elements; ${duration(longChecks.LIMIT_MS)}`,
      '`422 Invalid` behind it',
      'fixed; use several objects',
    ],
    'values that the JSONPath of a printer column looks at; those of all columns, 50 characters that are shown counting as one':
      [`${count(jsonPath.MAX_LOOKED_AT)} in an object; ${count(table.MAX_ROW)}`, 'the cell is empty', 'a shorter path'],
    'certificates in the `caBundle` of a webhook; its characters': [
      `${count(webhookTrust.MAX_BUNDLE_CERTIFICATES)}; ${binary(webhookTrust.MAX_BUNDLE_CHARS)}`,
      'the webhook counts as failed: `caBundle has more than …`',
      "fixed; name the webhook's own authority",
    ],
    'answer of an admission webhook; fields and elements of it': [
      `${bytes(webhookClient.MAX_RESPONSE_BYTES)}, within \`timeoutSeconds\` (1 to 30, default 10); ${count(objectSize.VALUES_LIMIT)}`,
      '`failurePolicy` decides',
      "the webhook's configuration",
    ],
    'interim answers (1xx) of a webhook': [
      count(webhookClient.MOST_INTERIM),
      'the webhook counts as failed: `too many 1xx informational responses`',
      'fixed',
    ],
    'validating webhooks that judge one object at the same time': [
      count(webhooks.AT_ONCE),
      'the others wait for them',
      'fixed',
    ],
    'webhook calls of a tenant (a space directly below `root`, with all below it) at the same time; their bytes, sent or received':
      [
        `${count(webhookCalls.TENANT_CALLS)}; ${bytes(webhookCalls.TENANT_BYTES)}`,
        'the others wait; of an answer of more than 64 KiB: the webhook counts as failed',
        'fixed',
      ],
    'webhook calls of the whole server, their bytes; what a tenant may have of them in any case': [
      `${count(webhookCalls.SERVER_CALLS)}, ${bytes(webhookCalls.SERVER_BYTES)}; ${count(webhookCalls.KEPT_CALLS)}, ${bytes(webhookCalls.KEPT_BYTES)}`,
      'the others wait; of an answer of more than 64 KiB: the webhook counts as failed',
      'fixed',
    ],
    'objects that a conversion webhook converts at once; their bytes': [
      `${count(views.CONVERTED_TOGETHER)}; ${bytes(views.CONVERTED_BYTES)}, or one object`,
      'several requests are sent',
      'fixed',
    ],
    'answer of a conversion webhook; beside 2 MiB no more than so many times what it was sent; fields and elements': [
      `${bytes(servedDefinitions.CONVERSION_LIMIT_BYTES)}, within ${count(servedDefinitions.CONVERSION_TIMEOUT_SECONDS)} s; ${count(servedDefinitions.CONVERSION_TIMES_SENT)}; ${count(servedDefinitions.CONVERSION_LIMIT_VALUES)}`,
      '`500`: `conversion webhook … failed`',
      'fixed',
    ],
    'what was converted, by webhooks or to a newer schema, and is kept, of a space; time in which none of it goes': [
      `${bytes(convertedViews.VIEWS_BYTES)}; ${duration(convertedViews.FRESH_MS)}, and while a list is read`,
      'the oldest goes; where none may, `429 TooManyRequests`',
      'ask for pages (`limit`)',
    ],
  },
  placement: {
    'work statuses of a list without `limit`': [
      count(answeredReader.MAX_UNPAGED),
      '`400 BadRequest`',
      'ask for pages (`limit`)',
    ],
    'names of changed work statuses that a space remembers for watches; that one watch waits for; time without a reader until the space forgets them':
      [
        `${count(answeredLog.LIMIT)}; ${count(answeredReader.MAX_KNOWN)}; ${duration(answeredReader.FORGOTTEN_AFTER_MS)}`,
        '`410 Expired`; clients list again',
        'fixed; watch less',
      ],
    'rights looked up for one write of an EdgePlacement': [
      count(placementAdmission.MAX_QUESTIONS),
      '`403 Forbidden`',
      'several placements',
    ],
    'InventoryBindings of a space': [count(bindingAdmission.MAX_BINDINGS), '`422 Invalid`', 'fixed; delete one first'],
    'NoticeSinks of a space': [count(sinkAdmission.MAX_SINKS), '`403 Forbidden`', 'fixed; delete one first'],
    'time for an attempt to deliver a notice': [
      `${noticePosts.NOTICE_TIMEOUT_SECONDS} s`,
      'the attempt has failed, and the notice is retried',
      'fixed',
    ],
    'silence on a space stream before the kernel asks its peer, and gives it up ten seconds later': [
      duration(spaceStream.PROBE_AFTER_MS),
      'the stream ends; its client resumes',
      'fixed',
    ],
  },
  access: {
    'comparisons of a role, piece by piece, with what its writer holds': [
      count(escalation.MOST_WORK),
      '`403 Forbidden`',
      'several smaller roles',
    ],
    'roles and bindings of a space that count, as they are stored': [
      bytes(rbacReader.MOST_BYTES),
      'those behind grant nothing; refusals and the log say so: by name, ClusterRoleBindings first, then ClusterRoles, RoleBindings, Roles',
      'fewer of them; delete what is not needed',
    ],
    'steps that aggregated ClusterRoles of a space gather rules in, for authorization': [
      count(aggregation.MOST_WORK),
      'those behind grant nothing',
      'fewer selectors, fewer rules',
    ],
    'groups of an access review; keys and values of its `extra`; requirements and values of a selector in it': [
      `${count(reviewLimits.REVIEW_ITEMS)} each`,
      '`422 Invalid`',
      'fixed',
    ],
    'audiences of a TokenRequest or TokenReview; characters of each; of the token of a TokenReview': [
      `${count(reviewLimits.AUDIENCES)}; ${count(reviewLimits.AUDIENCE_LENGTH)}; ${count(reviewLimits.TOKEN_LENGTH)}`,
      '`422 Invalid`',
      'fixed',
    ],
    'verbs, groups, resources and names that a SelfSubjectRulesReview lists': [
      count(reviews.MAX_RULE_WORDS),
      '`incomplete: true`, and how many rules are left out',
      'fixed',
    ],
    'connections; those without a credential': [
      `what the file descriptors allow; half of that, at most ${count(strangerLimits.TOTAL)}`,
      'the oldest idle one ends: see [Connections](../guard.md#connections)',
      '`ulimit -n`; `--max-unauthenticated-connections`, `--max-unauthenticated-connections-per-address`',
    ],
    'a document of the OIDC issuer; the next attempt after a failure': [
      `${bytes(fetchJson.LIMIT_BYTES)} within ${duration(issuerKeys.TIMEOUT_MS)}; after ${duration(issuerKeys.RETRY_MS)}`,
      '`401 Unauthorized`',
      'fixed',
    ],
    'keys of the OIDC issuer are read anew; unknown ones at most': [
      `every ${issuerKeys.MAX_AGE_MS / 60_000} min; every ${duration(issuerKeys.COOLDOWN_MS)}`,
      '`401 Unauthorized`',
      'fixed',
    ],
    'a good token is remembered': [
      `${duration(union.REMEMBERED_MS)}; not longer than its ServiceAccount exists`,
      '',
      'fixed',
    ],
    'life of a certificate for a CertificateSigningRequest': [
      `at least ${count(certificateSigner.MIN_SECONDS)} s, at most ${count(certificateSigner.YEAR_SECONDS)} s`,
      'it is cut',
      'fixed',
    ],
    'life of a ServiceAccount token': [
      `at least ${count(tokenRequest.MIN_SECONDS)} s, at most \`${tokenRequest.YEAR_SECONDS / 3600}h\``,
      '`422 Invalid`; it is cut',
      '`--service-account-max-token-expiration`',
    ],
  },
}
