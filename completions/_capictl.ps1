
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'capictl' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'capictl'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'capictl' {
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Make a cluster a management cluster')
            [CompletionResult]::new('generate', 'generate', [CompletionResultType]::ParameterValue, 'Render cluster templates, provider components and other templates')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the configuration')
            [CompletionResult]::new('cache', 'cache', [CompletionResultType]::ParameterValue, 'Show or empty the cache of downloads')
            [CompletionResult]::new('run-local', 'run-local', [CompletionResultType]::ParameterValue, 'Run the manager of the Mailgun provider on this machine')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Show the help of a command')
            break
        }
        'capictl;init' {
            [CompletionResult]::new('--core', '--core', [CompletionResultType]::ParameterName, 'Core provider [default on the first run: cluster-api]')
            [CompletionResult]::new('-b', '-b', [CompletionResultType]::ParameterName, 'Bootstrap providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Bootstrap providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Control plane providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('--control-plane', '--control-plane', [CompletionResultType]::ParameterName, 'Control plane providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Infrastructure providers (comma list, can be repeated)')
            [CompletionResult]::new('--infrastructure', '--infrastructure', [CompletionResultType]::ParameterName, 'Infrastructure providers (comma list, can be repeated)')
            [CompletionResult]::new('--ipam', '--ipam', [CompletionResultType]::ParameterName, 'IPAM providers (comma list, can be repeated)')
            [CompletionResult]::new('--runtime-extension', '--runtime-extension', [CompletionResultType]::ParameterName, 'Runtime extension providers; all of them come from the configuration file (comma list, can be repeated)')
            [CompletionResult]::new('--addon', '--addon', [CompletionResultType]::ParameterName, 'Add-on providers (comma list, can be repeated)')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path of the management cluster''s kubeconfig [default: KUBECONFIG, ~/.kube/config, in-cluster]')
            [CompletionResult]::new('--kubeconfig-context', '--kubeconfig-context', [CompletionResultType]::ParameterName, 'Context within the kubeconfig [default: the current one]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to install all named providers into [default: what each one''s components name]')
            [CompletionResult]::new('--target-namespace', '--target-namespace', [CompletionResultType]::ParameterName, 'Namespace to install all named providers into [default: what each one''s components name]')
            [CompletionResult]::new('--wait-providers', '--wait-providers', [CompletionResultType]::ParameterName, 'Wait until the providers are available')
            [CompletionResult]::new('--wait-provider-timeout', '--wait-provider-timeout', [CompletionResultType]::ParameterName, 'Seconds to wait for each of a provider''s Deployments; 0 means 300')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'Refuse what would not work in this cluster; `--validate=false` only warns of it')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list-images', 'list-images', [CompletionResultType]::ParameterValue, 'List the images that `init` with the same flags would need')
            break
        }
        'capictl;init;list-images' {
            [CompletionResult]::new('--core', '--core', [CompletionResultType]::ParameterName, 'Core provider [default on the first run: cluster-api]')
            [CompletionResult]::new('-b', '-b', [CompletionResultType]::ParameterName, 'Bootstrap providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Bootstrap providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Control plane providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('--control-plane', '--control-plane', [CompletionResultType]::ParameterName, 'Control plane providers [default on the first run: kubeadm] (comma list, can be repeated)')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Infrastructure providers (comma list, can be repeated)')
            [CompletionResult]::new('--infrastructure', '--infrastructure', [CompletionResultType]::ParameterName, 'Infrastructure providers (comma list, can be repeated)')
            [CompletionResult]::new('--ipam', '--ipam', [CompletionResultType]::ParameterName, 'IPAM providers (comma list, can be repeated)')
            [CompletionResult]::new('--runtime-extension', '--runtime-extension', [CompletionResultType]::ParameterName, 'Runtime extension providers; all of them come from the configuration file (comma list, can be repeated)')
            [CompletionResult]::new('--addon', '--addon', [CompletionResultType]::ParameterName, 'Add-on providers (comma list, can be repeated)')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path of the management cluster''s kubeconfig [default: KUBECONFIG, ~/.kube/config, in-cluster]')
            [CompletionResult]::new('--kubeconfig-context', '--kubeconfig-context', [CompletionResultType]::ParameterName, 'Context within the kubeconfig [default: the current one]')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;generate' {
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('cluster', 'cluster', [CompletionResultType]::ParameterValue, 'Render the objects of a workload cluster from a template')
            [CompletionResult]::new('provider', 'provider', [CompletionResultType]::ParameterValue, 'Render the components of a provider, as `init` would install them')
            [CompletionResult]::new('yaml', 'yaml', [CompletionResultType]::ParameterValue, 'Substitute the variables of any template')
            break
        }
        'capictl;generate;cluster' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of the cluster to be [default: the current one of the kubeconfig]')
            [CompletionResult]::new('--target-namespace', '--target-namespace', [CompletionResultType]::ParameterName, 'Namespace of the cluster to be [default: the current one of the kubeconfig]')
            [CompletionResult]::new('--kubernetes-version', '--kubernetes-version', [CompletionResultType]::ParameterName, 'Kubernetes version of the cluster to be [default: the variable KUBERNETES_VERSION]')
            [CompletionResult]::new('--control-plane-machine-count', '--control-plane-machine-count', [CompletionResultType]::ParameterName, 'Machines of the control plane [default: the variable CONTROL_PLANE_MACHINE_COUNT, else 1]')
            [CompletionResult]::new('--worker-machine-count', '--worker-machine-count', [CompletionResultType]::ParameterName, 'Worker machines [default: the variable WORKER_MACHINE_COUNT, else 0]')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Infrastructure provider whose template is taken [default: the one in the management cluster]')
            [CompletionResult]::new('--infrastructure', '--infrastructure', [CompletionResultType]::ParameterName, 'Infrastructure provider whose template is taken [default: the one in the management cluster]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Flavor of the provider''s template')
            [CompletionResult]::new('--flavor', '--flavor', [CompletionResultType]::ParameterName, 'Flavor of the provider''s template')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Path or URL of a template to take instead of a provider''s; `-` is standard input')
            [CompletionResult]::new('--from-config-map', '--from-config-map', [CompletionResultType]::ParameterName, 'ConfigMap to take the template from instead of a provider')
            [CompletionResult]::new('--from-config-map-namespace', '--from-config-map-namespace', [CompletionResultType]::ParameterName, 'Namespace of that ConfigMap [default: the current one of the kubeconfig]')
            [CompletionResult]::new('--from-config-map-key', '--from-config-map-key', [CompletionResultType]::ParameterName, 'Key in that ConfigMap [default: template]')
            [CompletionResult]::new('--list-variables', '--list-variables', [CompletionResultType]::ParameterName, 'List the template''s variables instead of rendering it')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail where a warning says that a value is lost or misread')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Ask the API server whether it would take the objects; if not, print why beside the template''s lines, and fail')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Format of that list [default: text]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Format of that list [default: text]')
            [CompletionResult]::new('--values', '--values', [CompletionResultType]::ParameterName, 'YAML file with values of variables, a map of names and scalars; `-` is standard input (can be repeated, the last one wins)')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Value of a variable, over all files; it may have `=` in it and may be empty (can be repeated, the last one wins)')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Show on standard error which value each variable has and where it comes from; what may be a secret is masked')
            [CompletionResult]::new('--write-to', '--write-to', [CompletionResultType]::ParameterName, 'File to write to instead of standard output, readable for its owner only')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path of the management cluster''s kubeconfig [default: KUBECONFIG, ~/.kube/config, in-cluster]')
            [CompletionResult]::new('--kubeconfig-context', '--kubeconfig-context', [CompletionResultType]::ParameterName, 'Context within the kubeconfig [default: the current one]')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;generate;provider' {
            [CompletionResult]::new('--core', '--core', [CompletionResultType]::ParameterName, 'Core provider')
            [CompletionResult]::new('-b', '-b', [CompletionResultType]::ParameterName, 'Bootstrap provider')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Bootstrap provider')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Control plane provider')
            [CompletionResult]::new('--control-plane', '--control-plane', [CompletionResultType]::ParameterName, 'Control plane provider')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Infrastructure provider')
            [CompletionResult]::new('--infrastructure', '--infrastructure', [CompletionResultType]::ParameterName, 'Infrastructure provider')
            [CompletionResult]::new('--ipam', '--ipam', [CompletionResultType]::ParameterName, 'IPAM provider')
            [CompletionResult]::new('--runtime-extension', '--runtime-extension', [CompletionResultType]::ParameterName, 'Runtime extension provider')
            [CompletionResult]::new('--addon', '--addon', [CompletionResultType]::ParameterName, 'Add-on provider')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to install into [default: the one that the components name]')
            [CompletionResult]::new('--target-namespace', '--target-namespace', [CompletionResultType]::ParameterName, 'Namespace to install into [default: the one that the components name]')
            [CompletionResult]::new('--describe', '--describe', [CompletionResultType]::ParameterName, 'Describe the components: version, namespace, variables, images')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Leave the variables as they are')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail where a warning says that a value is lost or misread')
            [CompletionResult]::new('--values', '--values', [CompletionResultType]::ParameterName, 'YAML file with values of variables, a map of names and scalars; `-` is standard input (can be repeated, the last one wins)')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Value of a variable, over all files; it may have `=` in it and may be empty (can be repeated, the last one wins)')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Show on standard error which value each variable has and where it comes from; what may be a secret is masked')
            [CompletionResult]::new('--write-to', '--write-to', [CompletionResultType]::ParameterName, 'File to write to instead of standard output, readable for its owner only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;generate;yaml' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Path or URL of the template; `-` is standard input')
            [CompletionResult]::new('--list-variables', '--list-variables', [CompletionResultType]::ParameterName, 'List the variables that the template uses instead of rendering it')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Substitute the variables and leave the text as it is otherwise; it need not be YAML')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail where a warning says that a value is lost or misread')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Format of that list [default: text]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Format of that list [default: text]')
            [CompletionResult]::new('--values', '--values', [CompletionResultType]::ParameterName, 'YAML file with values of variables, a map of names and scalars; `-` is standard input (can be repeated, the last one wins)')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Value of a variable, over all files; it may have `=` in it and may be empty (can be repeated, the last one wins)')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Show on standard error which value each variable has and where it comes from; what may be a secret is masked')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;config' {
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('repositories', 'repositories', [CompletionResultType]::ParameterValue, 'List the known providers and their repositories')
            [CompletionResult]::new('view', 'view', [CompletionResultType]::ParameterValue, 'Show which files, folders, settings and values are in use, and where each comes from')
            break
        }
        'capictl;config;repositories' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--versions', '--versions', [CompletionResultType]::ParameterName, 'Ask the repositories for the version that is taken when none is named, and for the newest complete release of each contract')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;config;view' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path of the management cluster''s kubeconfig [default: KUBECONFIG, ~/.kube/config, in-cluster]')
            [CompletionResult]::new('--kubeconfig-context', '--kubeconfig-context', [CompletionResultType]::ParameterName, 'Context within the kubeconfig [default: the current one]')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;cache' {
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the downloads that are kept')
            [CompletionResult]::new('clear', 'clear', [CompletionResultType]::ParameterValue, 'Remove all downloads that are kept')
            break
        }
        'capictl;cache;list' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;cache;clear' {
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;run-local' {
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path of the management cluster''s kubeconfig [default: KUBECONFIG, ~/.kube/config, in-cluster]')
            [CompletionResult]::new('--kubeconfig-context', '--kubeconfig-context', [CompletionResultType]::ParameterName, 'Context within the kubeconfig [default: the current one]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in [default: all of them] (comma list, can be repeated)')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in [default: all of them] (comma list, can be repeated)')
            [CompletionResult]::new('--watch-filter', '--watch-filter', [CompletionResultType]::ParameterName, 'Work on what has this value of the label `cluster.x-k8s.io/watch-filter` only [default: on everything]')
            [CompletionResult]::new('--concurrency', '--concurrency', [CompletionResultType]::ParameterName, 'MailgunClusters to work on at a time')
            [CompletionResult]::new('--on-uncertain', '--on-uncertain', [CompletionResultType]::ParameterName, 'A mail that Mailgun''s events do not tell of: `hold` it for a person, or `resend` it, though it may be out')
            [CompletionResult]::new('--event-retention', '--event-retention', [CompletionResultType]::ParameterName, 'How long Mailgun keeps its events; what is older is held, whatever `--on-uncertain` says')
            [CompletionResult]::new('--allow-orphan', '--allow-orphan', [CompletionResultType]::ParameterName, 'Send for a MailgunCluster that no Cluster owns, too')
            [CompletionResult]::new('--subject-style', '--subject-style', [CompletionResultType]::ParameterName, 'Subject of mails: `[Urgent] New Cluster requested`, or with the cluster''s name in it, as the book has it')
            [CompletionResult]::new('--leader-elect', '--leader-elect', [CompletionResultType]::ParameterName, 'Work only while holding the Lease; `--leader-elect=false` is for who is certainly alone')
            [CompletionResult]::new('--leader-election-id', '--leader-election-id', [CompletionResultType]::ParameterName, 'Name of the Lease; managers that work on the same objects need the same one')
            [CompletionResult]::new('--leader-election-namespace', '--leader-election-namespace', [CompletionResultType]::ParameterName, 'Namespace of the Lease [default: cluster-api-provider-mailgun-system; in a Pod, the Pod''s own]')
            [CompletionResult]::new('--leader-elect-lease-duration', '--leader-elect-lease-duration', [CompletionResultType]::ParameterName, 'How long the others respect a Lease that is not renewed')
            [CompletionResult]::new('--leader-elect-renew-deadline', '--leader-elect-renew-deadline', [CompletionResultType]::ParameterName, 'After how long without renewal the leader gives up')
            [CompletionResult]::new('--leader-elect-retry-period', '--leader-elect-retry-period', [CompletionResultType]::ParameterName, 'How often the Lease is renewed, or looked at')
            [CompletionResult]::new('--metrics-bind-address', '--metrics-bind-address', [CompletionResultType]::ParameterName, 'Where to serve /metrics; `0` for nowhere')
            [CompletionResult]::new('--health-probe-bind-address', '--health-probe-bind-address', [CompletionResultType]::ParameterName, 'Where to serve /healthz and /readyz; `0` for nowhere')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Form of the log: for a person, or an object a line [default: text; in the provider''s Deployment, json]')
            [CompletionResult]::new('--zap-devel', '--zap-devel', [CompletionResultType]::ParameterName, 'Log as kubebuilder''s scaffold does with this flag: its lines, fields separated by TABs, down to debug')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;version' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;completion' {
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'capictl;help' {
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Take releases and templates from the download cache alone, without any request for them')
            [CompletionResult]::new('--ca-file', '--ca-file', [CompletionResultType]::ParameterName, 'PEM file of CA certificates to trust for downloads, besides those of the system')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
