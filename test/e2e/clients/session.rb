# The story of session.ts, told with ruby-kubeclient. Argument: a kubeconfig.
require 'kubeclient'

$stdout.sync = true
context = Kubeclient::Config.read(ARGV[0]).context
connect = lambda do |path, version|
  Kubeclient::Client.new(context.api_endpoint + path, version,
                         ssl_options: context.ssl_options, auth_options: context.auth_options)
end
core = connect.call('/api', 'v1')
apps = connect.call('/apis/apps', 'v1')
namespace = 'default'
one = { metadata: { name: 'one', namespace: namespace } }

made = core.create_config_map(Kubeclient::Resource.new(one.merge(data: { n: '1' })))
puts "created #{made.metadata.name}"
puts "read #{core.get_config_map('one', namespace).data.n}"
labels = { app: 'web' }
web = {
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: namespace },
  spec: {
    replicas: 2, selector: { matchLabels: labels },
    template: { metadata: { labels: labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } }
  }
}
stale = nil
watcher = core.watch_config_maps(namespace: namespace, field_selector: 'metadata.name=one')
watcher.each do |event|
  now = event.object
  puts [event.type, now.data.n, *(event.type == 'MODIFIED' ? [now.data.how] : [])].join(' ')
  break watcher.finish if event.type == 'DELETED'

  case now.data.n
  when '1'
    core.merge_patch_config_map('one', { data: { n: '2', how: 'patched' } }, namespace)
  when '2'
    now.data = { n: '3', how: 'replaced' }
    stale = now
    core.update_config_map(now)
  when '3'
    begin
      core.update_config_map(stale)
    rescue Kubeclient::HttpError => e
      puts "conflict #{e.error_code} #{JSON.parse(e.response.body)['reason']}"
    end
    applied = one.merge(apiVersion: 'v1', kind: 'ConfigMap', data: { n: '4', how: 'applied' })
    core.apply_config_map(applied, field_manager: 'story')
  else
    spec = apps.apply_deployment(web, field_manager: 'story').spec
    puts "deployment #{spec.template.spec.containers[0].image} x#{spec.replicas}"
    names = core.get_config_maps(namespace: namespace, label_selector: '!none').map { |item| item.metadata.name }
    puts "list #{names.join(' ')}"
    core.delete_config_map('one', namespace)
  end
end
begin
  core.get_config_map('one', namespace)
rescue Kubeclient::ResourceNotFoundError => e
  puts "missing #{e.error_code} #{JSON.parse(e.response.body)['reason']}"
end
