//! Producers and readers that move between tasks half-way.

use super::{
    harness::{Rig, Token, count_events, emits, within},
    stacks::{moves_half_way, nine, streams, taps},
};
use crate::middleware::ReplyInput;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_producer_moves_while_its_item_is_on_its_way() {
    for inside in [taps(), streams()] {
        for layers in [vec![moves_half_way(), inside.clone()], vec![streams(), moves_half_way(), inside]] {
            for _ in 0..50 {
                let token = Token::new();
                assert_eq!(within(count_events(&layers, emits(10, &token))).await, 10);
                token.alone().await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_moves_to_another_task_after_each_item() {
    for layers in nine() {
        let token = Token::new();
        let (mut items, remains) = Rig::new(&layers, emits(10, &token)).into_stream(ReplyInput::default());
        let mut count = 0;
        loop {
            let read_one = async move { (items.next().await, items) };
            let (item, reader) = within(tokio::spawn(read_one)).await.unwrap();
            items = reader;
            if item.is_none() {
                break;
            }
            count += 1;
        }
        assert_eq!(count, 10);
        drop(items);
        remains.vanish().await;
        token.alone().await;
    }
}
