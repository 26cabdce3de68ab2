use cepa_core::Agent;

async fn ask(agent: &mut Agent) {
    let first = agent.reply("One").stream();
    let second = agent.reply("Two").stream();
    drop((first, second));
}

async fn observe(agent: &mut Agent) {
    let reply = agent.reply("One").stream();
    let _ = agent.observe("By the way").await;
    drop(reply);
}

fn main() {}
