/** The rows of docs/operations.md#limits, each with where the code says its numbers and how they are written. */
type Unit = (value: number) => string
const grouped = (value: number): string => value.toLocaleString('en-US')
const count: Unit = grouped
const seconds: Unit = value => `${grouped(value)} s`
const ofMs: Unit = ms => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`)
const inMs: Unit = ms => `${ms} ms`
const minutes: Unit = ms => `${ms / 60_000} min`
const bytes: Unit = value =>
  value % 2 ** 20 === 0 || value > 2 ** 20 ? `${value / 2 ** 20} MiB` : `${value / 2 ** 10} KiB`
const binary: Unit = value => (value % 2 ** 20 === 0 ? `${value / 2 ** 20} Mi` : `${value / 2 ** 10} Ki`)
const megabytes: Unit = value => `${value} MiB`
const gibibytes: Unit = value => `${value / 2 ** 30} GiB`
const mebi: Unit = value => `${value / 2 ** 20}`
const percent: Unit = value => `${value * 100} %`
const hours: Unit = text => `${text}h`

/** What the cell "default" of a row has to say, in its order. */
type Said = readonly [file: string, name: string, unit: Unit, times?: number]
const ENDPOINTS = 'src/apiserver/endpoints'
const SERVER = 'src/apiserver/server'
const FLOWS = 'src/apiserver/flowcontrol'
const CEL = 'src/apimachinery/structural'
const CRD = 'src/apimachinery/crd/crdBounds.ts'
const SIZE = 'src/apimachinery/objectSize.ts'
const META = 'src/apimachinery/metadataLimits.ts'
const TRANSLATOR = 'src/controllers/placement-translator'
const BUDGET = 'src/apimachinery/spaceBudget.ts'
const SHORTAGE = 'src/apiserver/shortage'
const CALLS = 'src/apiserver/admission/webhookCalls.ts'
const IN_FLIGHT = `${SERVER}/inFlight.ts`

/** By the first cell of the row, as the page has it. */
export const ROWS: Readonly<Record<string, readonly Said[]>> = {
  'body of a request': [[`${ENDPOINTS}/body.ts`, 'BODY_LIMIT_BYTES', bytes]],
  'request by which a syncer reports a status; the status': [
    ['src/apiserver/authority/reportLimit.ts', 'REPORT_LIMIT_BYTES', bytes],
    ['src/apimachinery/statusLimit.ts', 'STATUS_LIMIT_BYTES', bytes],
  ],
  'fields and elements of a body, in whatever form it comes; fields of one map in it': [
    [SIZE, 'VALUES_LIMIT', count],
    [SIZE, 'MEMBERS_LIMIT', count],
  ],
  'an object, as it is stored; its fields and elements; fields of one map in it': [
    [SIZE, 'OBJECT_LIMIT', binary],
    [SIZE, 'VALUES_LIMIT', count],
    [SIZE, 'MEMBERS_LIMIT', count],
  ],
  'fields that one server-side apply claims; that all managers of an object claim together': [
    [SIZE, 'APPLIED_FIELDS_LIMIT', count],
    [SIZE, 'CLAIMS_LIMIT', count],
  ],
  'roles and bindings of a space that count, as they are stored': [
    ['src/apiserver/auth/rbacReader.ts', 'MOST_BYTES', bytes],
  ],
  'groups of an access review; keys and values of its `extra`; requirements and values of a selector in it': [
    ['src/apiserver/auth/reviewLimits.ts', 'REVIEW_ITEMS', count],
  ],
  'audiences of a TokenRequest or TokenReview; characters of each; of the token of a TokenReview': [
    ['src/apiserver/auth/reviewLimits.ts', 'AUDIENCES', count],
    ['src/apiserver/auth/reviewLimits.ts', 'AUDIENCE_LENGTH', count],
    ['src/apiserver/auth/reviewLimits.ts', 'TOKEN_LENGTH', count],
  ],
  'request of a CertificateSigningRequest, in base64; its usages': [
    ['src/kinds/access/certificates.ts', 'LONGEST_REQUEST', bytes],
    ['src/kinds/access/certificates.ts', 'MOST_USAGES', count],
  ],
  'characters of a value that a refusal shows': [['src/apimachinery/fieldErrors.ts', 'SHOWN_CHARACTERS', count]],
  'verbs, groups, resources and names that a SelfSubjectRulesReview tells': [
    ['src/apiserver/auth/reviews.ts', 'TOLD_WORDS', count],
  ],
  'fields and elements of what is written at once; bytes of that, or of what is there': [
    ['src/apiserver/registry/largeWrites.ts', 'LARGE_VALUES', count],
    ['src/apiserver/registry/largeWrites.ts', 'LARGE_BYTES', bytes],
  ],
  'what a write makes of rows, with what it replaces, that takes turns before the disk; of these in one commit': [
    ['src/storage/commitTurns.ts', 'TURN_BYTES', bytes],
    ['src/storage/commitTurns.ts', 'ROOM_BYTES', bytes],
  ],
  'JSON that is parsed in pieces, those of all spaces in turn': [
    [`${ENDPOINTS}/longBodies.ts`, 'STEPS_BYTES', bytes],
    ['src/apimachinery/jsonInSteps.ts', 'PIECE', bytes],
  ],
  'nesting of a body, and of what a patch makes': [['src/apimachinery/values.ts', 'NESTING_LIMIT', count]],
  'unknown fields and repeated keys of a body that are told': [
    ['src/apimachinery/repeatedKeys.ts', 'FINDINGS_LIMIT', count],
  ],
  'entries of an `Accept` header; parameters of each': [
    [`${ENDPOINTS}/negotiate.ts`, 'ENTRIES_LIMIT', count],
    [`${ENDPOINTS}/negotiate.ts`, 'PARAMETERS_LIMIT', count],
  ],
  'what is sent behind a request that has no answer yet': [[`${SERVER}/oneByOne.ts`, 'WAITING_BYTES', bytes]],
  'errors of a large object; their characters': [
    ['src/apiserver/registry/firstErrors.ts', 'MAX_ERRORS', count],
    ['src/apiserver/registry/firstErrors.ts', 'MAX_CHARACTERS', bytes],
  ],
  'list of [what nobody said](architecture.md#what-nobody-said) of an object': [
    ['src/apiserver/registry/provenance.ts', 'MAX_NOTE', bytes],
  ],
  "value of a policy's expression, as JSON; what its mutations make of an object": [
    ['src/apiserver/admission/fromCel.ts', 'MAX_CHARACTERS', binary],
    ['src/apiserver/admission/mutatingPolicies.ts', 'MAX_OBJECT_CHARACTERS', binary],
  ],
  'what a `messageExpression` says; an audit annotation': [
    ['src/apiserver/admission/policyVerdict.ts', 'MAX_MESSAGE_BYTES', bytes],
    ['src/apiserver/admission/policyVerdict.ts', 'MAX_ANNOTATION_BYTES', bytes],
  ],
  'work to cut the upsync sets of an EdgePlacement to what is granted': [
    [`${TRANSLATOR}/upsyncGrants.ts`, 'MAX_STEPS', count],
  ],
  'spaces below one another, `root` aside': [['src/apiserver/admission/workspaces.ts', 'MOST_LEVELS', count]],
  'URL and headers together': [[`${SERVER}/httpServer.ts`, 'HEADERS_LIMIT_BYTES', bytes]],
  'YAML that is read by a thread of its own': [[`${ENDPOINTS}/bigYaml.ts`, 'BIG_BYTES', bytes]],
  'YAML of one space in line for a thread': [['src/program/threadPool.ts', 'LINE', count]],
  'time for one of them, memory': [
    [`${ENDPOINTS}/bigYaml.ts`, 'LIMIT_MS', ofMs],
    ['src/apiserver/assembly.ts', 'maxOldGenerationSizeMb', megabytes],
  ],
  'aliases of a YAML body': [[`${ENDPOINTS}/yamlBody.ts`, 'ALIAS_LIMIT', count]],
  'operations of a JSON patch; what they copy': [
    ['src/apimachinery/patch/jsonPatch.ts', 'MAX_OPERATIONS', count],
    ['src/apimachinery/patch/jsonPatch.ts', 'MAX_COPIED_CHARS', bytes],
  ],
  'time for the TLS handshake; the headers; the body': [
    [`${SERVER}/httpServer.ts`, 'HANDSHAKE_TIMEOUT_MS', ofMs],
    [`${SERVER}/httpServer.ts`, 'HEADERS_TIMEOUT_MS', ofMs],
    [`${SERVER}/httpServer.ts`, 'REQUEST_TIMEOUT_MS', ofMs],
  ],
  'time in which a client takes an answer': [[`${SERVER}/httpServer.ts`, 'ANSWER_TIMEOUT_MS', ofMs]],
  'requests at a time': [
    [IN_FLIGHT, 'reading', count],
    [IN_FLIGHT, 'mutating', count],
  ],
  'wait for a turn': [[`${FLOWS}/flowControl.ts`, 'WAIT_LIMIT_MS', ofMs]],
  'requests of a space that wait for a webhook or for a slow client': [
    [`${FLOWS}/heldRequests.ts`, 'space: { requests', count],
    [`${FLOWS}/heldRequests.ts`, 'space: { requests: 200, bytes', bytes],
  ],
  'the same of the whole server': [
    [`${FLOWS}/heldRequests.ts`, 'server: { requests', count],
    [`${FLOWS}/heldRequests.ts`, 'server: { requests: 2000, bytes', bytes],
  ],
  'the same of a space with all spaces below it': [
    [`${FLOWS}/heldRequests.ts`, 'SUBTREE', count, 2000],
    [`${FLOWS}/heldRequests.ts`, 'SUBTREE', bytes, 512 * 2 ** 20],
  ],
  'of a space with all below it; of each of these': [[`${FLOWS}/watchBudget.ts`, 'LEAST_SHARE', count, 20_000]],
  'what watches have in hand that nobody reads: of a user in a space; of a space; with all below it; of the server': [
    [IN_FLIGHT, 'userBytes', bytes],
    [IN_FLIGHT, 'space: { requests: Number.POSITIVE_INFINITY, bytes', bytes],
    [`${FLOWS}/heldRequests.ts`, 'SUBTREE', bytes, 512 * 2 ** 20],
    [IN_FLIGHT, 'server: { requests: Number.POSITIVE_INFINITY, bytes', bytes],
  ],
  'watches and space streams': [[IN_FLIGHT, 'watching', count]],
  "those of one space or user; for syncers alone; of one mailbox's syncer": [
    [`${FLOWS}/watchBudget.ts`, 'SHARE', count, 20_000],
    [`${FLOWS}/watchBudget.ts`, 'FOR_SYNCERS', count, 20_000],
    [`${FLOWS}/watchBudget.ts`, 'SYNCER_SHARE', count, 20_000],
  ],
  "requirements and values of a request's selectors": [['src/apiserver/registry/selection.ts', 'MAX_PARTS', count]],
  'those that count as one more watch': [[`${FLOWS}/watchBudget.ts`, 'SELECTOR_PARTS', count]],
  'frames on their way to one watch; over WebSocket': [
    [`${ENDPOINTS}/streamWriter.ts`, 'WAITING_LIMIT_BYTES', bytes],
    [`${ENDPOINTS}/webSocketSink.ts`, 'WAITING_LIMIT_BYTES', bytes],
  ],
  'unread events of one watcher': [
    ['src/storage/storeView.ts', 'options.watcherBacklog', count],
    ['src/storage/storeView.ts', 'options.watcherBacklogBytes', bytes],
  ],
  'a watch without `timeoutSeconds`; a space stream': [
    [`${ENDPOINTS}/watch.ts`, 'DEFAULT_TIMEOUT_SECONDS', count],
    [`${ENDPOINTS}/spaceStream.ts`, 'LIFETIME_MS', seconds, 2 / 1000],
  ],
  '`timeoutSeconds` of a watch': [[`${ENDPOINTS}/watch.ts`, 'LONGEST_TIMEOUT_SECONDS', count]],
  'bookmarks of watches that want them; of space streams': [
    [`${ENDPOINTS}/watch.ts`, 'BOOKMARK_INTERVAL_MS', ofMs],
    [`${ENDPOINTS}/spaceStream.ts`, 'BOOKMARK_INTERVAL_MS', ofMs],
  ],
  'pings over WebSocket; messages of clients': [
    [`${SERVER}/webSockets.ts`, 'PING_INTERVAL_MS', ofMs],
    [`${SERVER}/webSockets.ts`, 'MESSAGE_LIMIT_BYTES', bytes],
  ],
  'lists that are indented (`pretty`)': [[`${ENDPOINTS}/listAnswers.ts`, 'PRETTY_LIMIT_BYTES', bytes]],
  'answers that are compressed at a time; that wait for it': [
    [`${ENDPOINTS}/compression.ts`, 'BLOCK_BYTES', bytes],
    [`${ENDPOINTS}/compression.ts`, 'SEATS', count],
    [`${ENDPOINTS}/compression.ts`, 'CROWD', count],
    [`${ENDPOINTS}/compression.ts`, 'CROWD_BYTES', bytes],
  ],
  'warnings in one answer; each, once they are more': [
    [`${ENDPOINTS}/warningHeaders.ts`, 'LIMIT', count],
    [`${ENDPOINTS}/warningHeaders.ts`, 'CUT', count],
  ],
  history: [['src/storage/journaledStore.ts', 'options.historyAgeMs', minutes]],
  'end of the server': [[`${SERVER}/httpServer.ts`, 'DRAIN_MS', ofMs]],

  'objects; bytes; SyncTargets of a space, with all spaces below it': [
    [BUDGET, 'DEFAULT_SPACE_OBJECTS', count],
    [BUDGET, 'DEFAULT_SPACE_BYTES', gibibytes],
    [BUDGET, 'DEFAULT_SYNC_TARGETS', count],
  ],
  'an answer of a cluster to its syncer, watches aside': [['src/cli/syncer.ts', 'ANSWER_LIMIT_BYTES', bytes]],
  'objects; bytes of a list that a client reads page by page; bytes of one that a syncer reads': [
    ['src/client/listWatch.ts', 'LIST_LIMIT_OBJECTS', count],
    ['src/client/listWatch.ts', 'LIST_LIMIT_BYTES', gibibytes],
    ['src/syncer/listLimit.ts', 'LIST_LIMIT_BYTES', bytes],
  ],
  'objects; bytes that a syncer carries up to a mailbox': [
    [BUDGET, 'DEFAULT_UPSYNCED_OBJECTS', count],
    [BUDGET, 'DEFAULT_UPSYNCED_BYTES', bytes],
  ],
  'heap that lives; memory of the machine or container': [
    [`${SHORTAGE}/memoryRoom.ts`, 'HEAP_SHORT', percent],
    [`${SHORTAGE}/memoryRoom.ts`, 'MACHINE_SHORT', percent],
  ],
  'free disk': [
    [`${SHORTAGE}/diskRoom.ts`, 'DEFAULT_RESERVE_PART', percent],
    [`${SHORTAGE}/diskRoom.ts`, 'LEAST_RESERVE_BYTES', mebi],
    [`${SHORTAGE}/diskRoom.ts`, 'MOST_RESERVE_BYTES', bytes],
  ],
  'data of a ConfigMap or Secret': [['src/kinds/core.ts', 'MAX_DATA_BYTES', bytes]],
  'annotations of an object; its labels': [
    [META, 'ANNOTATIONS_LIMIT_BYTES', bytes],
    [META, 'LABELS_LIMIT_BYTES', bytes],
  ],
  'its finalizers; owners; entries of `managedFields`': [
    [META, 'FINALIZERS_LIMIT', count],
    [META, 'OWNERS_LIMIT', count],
    [META, 'MANAGERS_LIMIT', count],
  ],
  'managers of single updates that are told apart': [
    ['src/apimachinery/apply/managers.ts', 'MAX_UPDATE_MANAGERS', count],
  ],
  'comparisons of a role, piece by piece, with what its writer holds': [
    ['src/apiserver/auth/escalation.ts', 'MOST_WORK', count],
  ],
  'steps that aggregated ClusterRoles gather rules in: for authorization, for all of a space; for one that is shown': [
    ['src/apiserver/auth/aggregation.ts', 'MOST_WORK', count],
    ['src/controllers/cluster-role-aggregation/clusterRoleAggregationController.ts', 'MOST_WORK', count],
  ],
  'finalizers, kinds and failures that a Namespace under deletion tells; finalizers of one object that it looks at': [
    ['src/controllers/namespace/conditions.ts', 'MAX_TOLD', count],
    ['src/controllers/namespace/conditions.ts', 'MAX_FINALIZERS', count],
  ],
  "names in a ResourceQuota's `spec.hard`": [['src/kinds/control/quotas.ts', 'MAX_NAMES', count]],
  'rules of LimitRanges times containers': [['src/apiserver/admission/limitRanger.ts', 'MOST_WORK', count]],
  'Pods that a stricter Pod Security label of their Namespace is compared with': [
    ['src/apiserver/admission/podSecurity/podSecurity.ts', 'MAX_PODS', count],
  ],

  'webhook configurations, admission policies, bindings, or classes of one kind that act in a space; ResourceQuotas or LimitRanges in a Namespace; bytes of one kind in a space or Namespace':
    [
      ['src/apiserver/admission/settingsLimit.ts', 'MAX_IN_SPACE', count],
      ['src/apiserver/admission/settingsLimit.ts', 'MAX_IN_NAMESPACE', count],
      ['src/apiserver/admission/settingsLimit.ts', 'MAX_BYTES', bytes],
    ],
  'text of a CEL expression; its depth; operators of one sort in a row': [
    [`${CEL}/celDepth.ts`, 'MAX_EXPRESSION_CHARACTERS', count],
    [`${CEL}/celDepth.ts`, 'LEVELS', count],
    [`${CEL}/celDepth.ts`, 'MAX_IN_A_ROW', count],
  ],
  'cost of one evaluation': [[`${CEL}/celProgram.ts`, 'MAX_EVALUATION_COST', count]],
  "of all rules of an object; of a policy's validations and messages, of its audit annotations, of each mutation, for a binding and parameter":
    [
      [`${CEL}/effort.ts`, 'MAX_RULE_UNITS', count],
      ['src/apiserver/admission/policyVerdict.ts', 'MAX_POLICY_COST', count],
    ],
  'of the match conditions of a webhook or a policy': [
    ['src/apiserver/admission/policyVerdict.ts', 'MAX_CONDITIONS_COST', count],
  ],
  'of all policies and match conditions that concern one object, for each round of changes and for the validation': [
    ['src/apiserver/admission/expressionRunner.ts', 'MAX_REQUEST_COST', count],
  ],
  'questions that the expressions of a policy ask the authorizer; characters of one': [
    ['src/apiserver/admission/celAuthorizer.ts', 'MAX_QUESTIONS', count],
    ['src/apiserver/admission/celAuthorizer.ts', 'MAX_QUESTION_CHARACTERS', binary],
  ],
  'built-in kinds that are judged by a thread': [
    ['src/apiserver/registry/largeWrites.ts', 'LARGE_VALUES', count],
    ['src/apiserver/registry/longChecks.ts', 'LIMIT_MS', ofMs],
  ],
  "characters of a quantity; bytes of a CronJob's schedule": [
    ['src/apimachinery/quantity.ts', 'MAX_LENGTH', count],
    ['src/kinds/workloads/cronJobs.ts', 'MAX_SCHEDULE', bytes],
  ],
  "time on the loop; of a thread's processor, for an object; for a policy": [
    ['src/program/loopShare.ts', 'LEAST_MS', inMs],
    ['src/program/loopShare.ts', 'FULL_MS', inMs],
    ['src/apiserver/registry/longChecks.ts', 'LIMIT_MS', ofMs],
    ['src/apiserver/admission/expressionRunner.ts', 'LIMIT_MS', ofMs],
  ],
  'texts that a CEL expression makes; lists; numbers as text': [
    [`${CEL}/celBounds.ts`, 'MAX_TEXT', binary],
    [`${CEL}/celBounds.ts`, 'MAX_ITEMS', binary],
    [`${CEL}/celPrices.ts`, 'MAX_NUMBER_TEXT', binary],
  ],
  'size of a regular expression, repetitions written out; its text': [
    [`${CEL}/userPatterns.ts`, 'MAX_SIZE', binary],
    [`${CEL}/userPatterns.ts`, 'MAX_LENGTH', binary],
  ],
  "comparisons of an object's values with the schema of its CRD": [[`${CEL}/effort.ts`, 'MAX_SCHEMA_UNITS', count]],
  'what defaults add to an object': [[`${CEL}/defaults.ts`, 'MAX_DEFAULTED', bytes]],
  'versions of a CRD; its short names and categories': [
    [CRD, 'versions', count],
    [CRD, 'names', count],
  ],
  'columns of a version; selectable fields': [
    [CRD, 'printerColumns', count],
    [CRD, 'selectableFields', count],
  ],
  'schemas in it, their depth; values of enums and required names; keys of a list': [
    [CRD, 'schemas', count],
    [CRD, 'schemaDepth', count],
    [CRD, 'values', count],
    [CRD, 'listMapKeys', count],
  ],
  'rules, their characters; patterns together; defaults': [
    [CRD, 'rules', count],
    [CRD, 'ruleCharacters', binary],
    [CRD, 'patternParts', binary],
    [CRD, 'defaultCharacters', bytes],
  ],
  'estimated cost of a rule in a CRD; of all of a schema': [
    [`${CEL}/celCost.ts`, 'EXPRESSION_COST_LIMIT', count],
    [`${CEL}/celCost.ts`, 'SCHEMA_COST_LIMIT', count],
  ],
  'values that the JSONPath of a printer column looks at; those of all columns, 50 characters that are shown counting as one':
    [
      ['src/apimachinery/jsonPath.ts', 'MAX_LOOKED_AT', count],
      ['src/apiserver/tables/table.ts', 'MAX_ROW', count],
    ],
  'filters of a JSONPath within one another': [['src/apimachinery/jsonPath.ts', 'MAX_FILTERS', count]],
  'certificates in the `caBundle` of a webhook; its characters': [
    ['src/apiserver/admission/webhookTrust.ts', 'MAX_BUNDLE_CERTIFICATES', count],
    ['src/apiserver/admission/webhookTrust.ts', 'MAX_BUNDLE_CHARS', binary],
  ],
  'answer of an admission webhook; fields and elements of it': [
    ['src/apiserver/admission/webhookClient.ts', 'MAX_RESPONSE_BYTES', bytes],
    [SIZE, 'VALUES_LIMIT', count],
  ],
  'interim answers (1xx) of a webhook': [['src/apiserver/admission/webhookClient.ts', 'MOST_INTERIM', count]],
  'validating webhooks that are asked about one object at the same time': [
    ['src/apiserver/admission/webhooks.ts', 'AT_ONCE', count],
  ],
  'webhooks that a tenant (a space directly below `root`, with all below it) asks at the same time; bytes that are sent to them or have come':
    [
      [CALLS, 'TENANT_CALLS', count],
      [CALLS, 'TENANT_BYTES', bytes],
    ],
  'the same of the whole server; what a tenant may have of it all the same': [
    [CALLS, 'SERVER_CALLS', count],
    [CALLS, 'SERVER_BYTES', bytes],
    [CALLS, 'KEPT_CALLS', count],
    [CALLS, 'KEPT_BYTES', bytes],
  ],
  'objects that a conversion webhook is asked about at once; their bytes': [
    ['src/apiserver/registry/views.ts', 'CONVERTED_TOGETHER', count],
    ['src/apiserver/registry/views.ts', 'CONVERTED_BYTES', bytes],
  ],
  'its answer; beside 2 MiB no more than so many times what it was sent; fields and elements': [
    ['src/apiserver/definitions/servedDefinitions.ts', 'CONVERSION_LIMIT_BYTES', bytes],
    ['src/apiserver/definitions/servedDefinitions.ts', 'CONVERSION_TIMEOUT_SECONDS', seconds],
    ['src/apiserver/definitions/servedDefinitions.ts', 'CONVERSION_TIMES_SENT', count],
    ['src/apiserver/definitions/servedDefinitions.ts', 'CONVERSION_LIMIT_VALUES', count],
  ],
  'what was converted, by webhooks or to a newer schema, and is kept, of a space; time in which none of it goes': [
    ['src/apiserver/registry/convertedViews.ts', 'VIEWS_BYTES', bytes],
    ['src/apiserver/registry/convertedViews.ts', 'FRESH_MS', ofMs],
  ],

  'customized object; parameter of a Location': [
    [`${TRANSLATOR}/customize.ts`, 'MAX_OBJECT_BYTES', bytes],
    [`${TRANSLATOR}/parameterExpansion.ts`, 'MAX_PARAMETER_CHARACTERS', binary],
  ],
  'places that the path of a Customizer finds': [[`${TRANSLATOR}/replacementPath.ts`, 'MAX_PLACES', count]],
  'characters of such a path; work for one object and destination': [
    [`${TRANSLATOR}/replacementPath.ts`, 'MAX_PATH_CHARACTERS', binary],
    [`${TRANSLATOR}/customize.ts`, 'MAX_WORK', count],
  ],
  "`jsonPointers` of an EdgePlacement's `ignoreDifferences`; characters of one": [
    ['src/apimachinery/leftFields.ts', 'MAX_POINTERS', count],
    ['src/apimachinery/leftFields.ts', 'MAX_POINTER_LENGTH', count],
  ],
  'owners of an object that it refers to in a cluster': [
    ['src/apimachinery/carriedOwners.ts', 'MAX_CARRIED_OWNERS', count],
  ],
  "selectors, labels, expressions and values of an EdgePlacement's `locationSelectors`; of `downsync`; sets of `upsync`":
    [['src/controllers/selectorParts.ts', 'MAX_SELECTOR_PARTS', count]],
  'destinations in a SinglePlacementSlice': [['src/controllers/placementSlices.ts', 'MAX_DESTINATIONS', count]],
  'objects of a PlacementPreview; all of them as JSON; at the same time, of one space': [
    ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEWED', count],
    ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_BYTES', bytes],
    ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEWS_AT_ONCE', count],
  ],
  'clusters that a PlacementPreview looks at; work for that; contents that it shows; objects that it was not asked about; copies that it counts of what EdgePlacements move':
    [
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_DESTINATIONS', count],
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_WORK', count],
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_CONTENT_BYTES', bytes],
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_MOVED', count],
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_PAIRS', count],
    ],
  'work for the `Warning` that counts what a write of an EdgePlacement takes from clusters: pairs of an object and a cluster, tests, selectors; such writes of a space at the same time':
    [
      ['src/apimachinery/placementPreview.ts', 'MAX_CONSEQUENCE_WORK', count],
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEWS_AT_ONCE', count],
    ],
  'objects of a space without EdgePlacement that are read for a PlacementPreview with its first; what is remembered of them':
    [
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_READ', count],
      ['src/apimachinery/placementPreview.ts', 'MAX_PREVIEW_READ_BYTES', bytes],
    ],
  'clusters that are asked by one PlacementPreview what they hold; how long for an answer; bytes of it as JSON, for each side; questions that wait at a time, and of one tenant':
    [
      ['src/apimachinery/liveObjects.ts', 'MAX_LIVE_CLUSTERS', count],
      ['src/apimachinery/liveObjects.ts', 'LIVE_WAIT_MS', ofMs],
      ['src/apimachinery/liveObjects.ts', 'MAX_LIVE_BYTES', bytes],
      ['src/apimachinery/liveObjects.ts', 'MAX_LIVE_WAITING', count],
      ['src/apimachinery/liveObjects.ts', 'MAX_TENANT_WAITING', count],
    ],
  "upsync sets of one space in a cluster's SyncerConfig, after they are cut to the grants": [
    [`${TRANSLATOR}/upsyncShare.ts`, 'MAX_SPACE_UPSYNC', count],
  ],
  'copies of a space that go within 10 s without having been deleted by name; all of them in a cluster': [
    [`${TRANSLATOR}/removalLimits.ts`, 'MAX_REMOVED', count],
    [`${TRANSLATOR}/removalLimits.ts`, 'MAX_EMPTIED', count],
  ],
  'what a syncer lists of what is not so in its cluster; characters of each message': [
    ['src/apimachinery/outcome.ts', 'MAX_EXCEPTIONS', count],
    ['src/apimachinery/outcome.ts', 'MAX_MESSAGE', count],
  ],
  'work statuses of a list without `limit`': [['src/apiserver/registry/answeredReader.ts', 'MAX_UNPAGED', count]],
  'names of work statuses of a space that changed and are remembered for watches; that a watch waits to be told; how long nobody needs to ask until nothing is remembered':
    [
      ['src/apiserver/registry/answeredLog.ts', 'LIMIT', count],
      ['src/apiserver/registry/answeredReader.ts', 'MAX_KNOWN', count],
      ['src/apiserver/registry/answeredReader.ts', 'FORGOTTEN_AFTER_MS', ofMs],
    ],
  'Events about trouble and outages of one space, and about its SyncTargets; in which time': [
    ['src/controllers/toldEvents.ts', 'MAX_OF_SPACE', count],
    ['src/controllers/toldEvents.ts', 'REPEATED_AFTER_MS', ofMs],
  ],
  'rights looked up for one write of an EdgePlacement': [
    ['src/apiserver/authority/placementAdmission.ts', 'MAX_QUESTIONS', count],
  ],
  'InventoryBindings of a space': [['src/apiserver/authority/bindingAdmission.ts', 'MAX_BINDINGS', count]],
  'kinds that a SyncTarget tells its cluster offers; as JSON': [
    ['src/apimachinery/offer.ts', 'MAX_OFFERED', count],
    ['src/apimachinery/offer.ts', 'MAX_OFFER_BYTES', bytes],
  ],
  'a syncer whose connection has ended is silent after; one with a connection that says nothing': [
    ['src/controllers/mailbox/syncerConnections.ts', 'SILENCE_MS', ofMs],
    ['src/apimachinery/outcome.ts', 'OUTCOME_SILENCE_MS', ofMs],
  ],
  'silence on a space stream before the kernel asks its peer, and gives it up ten seconds later': [
    [`${SERVER}/httpServer.ts`, 'PROBE_AFTER_MS', ofMs],
  ],
  'requests of a syncer to its cluster': [],

  'connections; those without a credential': [[`${SERVER}/strangerLimits.ts`, 'TOTAL', count]],
  'a document of the OIDC issuer; asked again after a failure': [
    ['src/apiserver/auth/fetchJson.ts', 'LIMIT_BYTES', bytes],
    ['src/apiserver/auth/issuerKeys.ts', 'TIMEOUT_MS', ofMs],
    ['src/apiserver/auth/issuerKeys.ts', 'RETRY_MS', ofMs],
  ],
  'keys of the OIDC issuer are read anew; unknown ones at most': [
    ['src/apiserver/auth/issuerKeys.ts', 'MAX_AGE_MS', minutes],
    ['src/apiserver/auth/issuerKeys.ts', 'COOLDOWN_MS', ofMs],
  ],
  'a good token is remembered': [['src/apiserver/auth/union.ts', 'ttlMs', ofMs]],
  'life of a certificate for a CertificateSigningRequest': [
    ['src/apiserver/auth/certificateSigner.ts', 'MIN_SECONDS', seconds],
    ['src/apiserver/auth/certificateSigner.ts', 'YEAR_SECONDS', seconds],
  ],
  'life of a ServiceAccount token': [
    ['src/apiserver/auth/tokenRequest.ts', 'MIN_SECONDS', seconds],
    ['src/apiserver/auth/tokenRequest.ts', 'YEAR_SECONDS', hours, 1 / 3600],
  ],
}
